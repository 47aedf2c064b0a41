// In charge of: accounts and their quotas, with an admin key. An account exists as soon as a key or a quota names it.
import { useEffect, useState } from 'preact/hooks'
import type { publishedLimits } from '#contract/api/publishedLimits.ts'
import type { Account, Key } from '#contract/api/administration.ts'
import type { AccountUsage, UsageOfAccounts } from '#contract/api/usage.ts'
import { listAccounts, saveQuotas, saveSpendCap } from '../admin/adminApi.ts'
import {
  account as accountField,
  quotaFields,
  quotaFormValues,
  quotaBody,
  spendFields,
  type Defaults,
} from '../admin/keyLimits.ts'
import { LimitsForm } from '../admin/limitsForm.tsx'
import { ApiError, listKeys, readLimits, request, asError, type Failure } from '../api/api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { Notice, ConnectionNotice } from '../parts/notice.tsx'
import { Bar, percentOf } from '../parts/progress.tsx'
import { signOut } from '../api/session.ts'
import { formatBytes } from '../text/format.ts'
import { sumOf } from './usageHistory.tsx'

interface Listed extends Account {
  /** Number of active keys. */
  keys: number
  /** null = nothing yet in this month. */
  used: AccountUsage | null
}

interface Loaded {
  accounts: Listed[]
  defaults: Defaults
}

async function load(): Promise<Loaded> {
  // First alone: a key without admin rights is refused once.
  const own = await listAccounts()
  const [keys, published, { accounts: used }] = await Promise.all([
    listKeys(),
    readLimits(),
    request<UsageOfAccounts>('/api/v0/usage/accounts'),
  ])
  const { quotas } = published as ReturnType<typeof publishedLimits>
  const defaults = { max_active_jobs: quotas.active_jobs, max_stored_upload_bytes: quotas.stored_upload_bytes }
  const live = keys.filter((key: Key) => key.revoked_at === null)
  const names = new Set(['default', ...own.map(({ account }) => account), ...keys.map(({ account }) => account)])
  const accounts = [...names].toSorted().map((account) => ({
    ...(own.find((each) => each.account === account) ?? {
      account,
      ...defaults,
      max_running: null,
      weight: 1,
      spend_cap: null,
      spend_webhook_url: null,
    }),
    keys: live.filter((key) => key.account === account).length,
    used: used.find((each) => each.account === account) ?? null,
  }))
  return { accounts, defaults }
}

export function Accounts() {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [editing, setEditing] = useState<Listed | 'new' | null>(null)
  const read = async (): Promise<void> => {
    try {
      setLoaded(await load())
      setFailure(null)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  useEffect(() => void read(), [])
  const close = (): void => setEditing(null)

  if (failure?.code === 'forbidden') {
    return (
      <>
        <h1>Accounts</h1>
        <Notice kind="warning">
          <p>Accounts and quotas are managed with an admin key.</p>
          <button type="button" onClick={() => signOut('Sign in with an admin key to manage API keys and accounts.')}>
            Sign in with an admin key
          </button>
        </Notice>
      </>
    )
  }
  return (
    <>
      <div class="head line apart">
        <h1>Accounts</h1>
        <button type="button" class="primary" disabled={loaded === null} onClick={() => setEditing('new')}>
          <Icon name="plus" /> Add account
        </button>
      </div>
      <p class="help">
        Keys of one account share its jobs, uploads and quotas. An account without its own quotas has those of the
        service.
      </p>
      {failure ? <ConnectionNotice failure={failure} retry={() => void read()} /> : null}
      {loaded === null ? (
        failure ? null : (
          <Loading label="Loading the accounts" lines={3} />
        )
      ) : (
        <List heads={['Account', 'This month', ...QUOTAS, '']}>
          {loaded.accounts.map((each) => (
            <AccountRow key={each.account} of={each} defaults={loaded.defaults} onEdit={() => setEditing(each)} />
          ))}
        </List>
      )}
      {editing === null || loaded === null ? null : (
        <Dialog title={editing === 'new' ? 'Add account' : `Quotas of ${editing.account}`} wide onClose={close}>
          <LimitsForm
            name={editing === 'new' ? 'Add account' : `Quotas of ${editing.account}`}
            initial={editing === 'new' ? {} : quotaFormValues(editing, loaded.defaults)}
            first={[...(editing === 'new' ? [accountField] : []), ...quotaFields, ...spendFields]}
            action="Save"
            send={async ({ account, spend_cap: cap = null, spend_webhook_url: url = null, ...typed }) => {
              const name = editing === 'new' ? nameOf(account) : editing.account
              const before = editing === 'new' ? { spend_cap: null, spend_webhook_url: null } : editing
              await saveQuotas(name, quotaBody(typed))
              if (cap !== before.spend_cap || url !== before.spend_webhook_url)
                await saveSpendCap(name, { spend_cap: cap, spend_webhook_url: url })
              close()
              await read()
            }}
            onCancel={close}
          />
        </Dialog>
      )}
    </>
  )
}

/** The name is part of the request's path; a wrong path gets no helpful error, so it is checked here. */
function nameOf(typed: unknown): string {
  const name = typeof typed === 'string' || typeof typed === 'number' ? String(typed).trim() : ''
  if (/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return name
  throw new ApiError(400, { code: 'invalid_request', message: 'The account name is not valid.' }, [
    {
      code: 'invalid_value',
      field: 'account',
      message: 'Enter 1 to 40 lower-case letters, digits and hyphens, not beginning with a hyphen.',
    },
  ])
}

const QUOTAS = ['Active jobs', 'Running jobs', 'Stored uploads', 'Weight', 'Spend cap'] as const

const count = (value: number): string => value.toLocaleString('en')

/** `12 jobs, 1 failed, 4.80 EUR` */
function usedBy({ lines, costs }: AccountUsage): string {
  const [made, failed] = [sumOf(lines, 'jobs', 'completed'), sumOf(lines, 'jobs', 'failed')]
  const spent = costs.map(({ amount, currency }) => `${amount.toFixed(2)} ${currency}`)
  return [
    `${count(made)} ${made === 1 ? 'job' : 'jobs'}`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...spent,
  ].join(', ')
}

interface AccountRowProps {
  of: Listed
  defaults: Defaults
  onEdit: () => void
}

function AccountRow({ of: each, defaults, onEdit }: AccountRowProps) {
  const {
    max_active_jobs: active,
    max_running: running,
    max_stored_upload_bytes: stored,
    weight,
    spend_cap: cap,
  } = each
  const spent = each.used?.costs[0]?.amount ?? 0
  const quotas: [value: string, own: boolean][] = [
    [count(active), active !== defaults.max_active_jobs],
    [running === null ? 'no limit' : count(running), running !== null],
    [stored === null ? 'no limit' : formatBytes(stored), stored !== defaults.max_stored_upload_bytes],
    [String(weight), weight !== 1],
    [cap === null ? 'none' : `${spent.toFixed(2)} of ${count(cap)} a month`, cap !== null],
  ]
  return (
    <li class="row">
      <div class="what">
        <strong>{each.account}</strong>
        <span class="help">
          {each.keys} API {each.keys === 1 ? 'key' : 'keys'}
        </span>
      </div>
      <div class="cells">
        <span class="help figures" data-name="This month">
          {each.used === null ? '–' : usedBy(each.used)}
        </span>
        {quotas.map(([value, own], at) => (
          <span key={QUOTAS[at]} class={own ? 'figures' : 'figures soft'} data-name={QUOTAS[at]}>
            {own ? <strong>{value}</strong> : value}
            {own ? null : <span class="hidden"> (default)</span>}
            {QUOTAS[at] === 'Spend cap' && cap !== null ? (
              <Bar slim label={`Spend cap of ${each.account}`} percent={percentOf(spent, cap)} />
            ) : null}
          </span>
        ))}
        <button type="button" class="small" onClick={onEdit}>
          Edit<span class="hidden"> {each.account}</span>
        </button>
      </div>
    </li>
  )
}
