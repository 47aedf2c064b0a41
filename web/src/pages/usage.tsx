// In charge of: what the account used in a month, its costs and its spend cap; with an admin key the usage of all accounts.
// Not in charge of: setting a cap (accounts.tsx).
import { useEffect, useState } from 'preact/hooks'
import type { AccountUsage, Usage, UsageLine, UsageOfAccounts } from '#contract/api/usage.ts'
import type { UsageItem } from '#contract/usage/items.ts'
import { asError, request, send, toApiError, type Failure } from '../api/api.ts'
import type { Scope } from '../api/session.ts'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Bar, percentOf } from '../parts/progress.tsx'
import { Tiles, type Tile } from '../parts/tiles.tsx'
import { History, sumOf } from './usageHistory.tsx'
import { codecName } from '../text/mediaTerms.ts'
import { formatBytes, formatDuration } from '../text/format.ts'

const ITEMS: Readonly<Record<UsageItem, string>> = {
  jobs: 'Jobs',
  source_hours: 'Source',
  output_hours: 'Output',
  stills: 'Stills',
  cpu_hours: 'CPU time',
  gb_in: 'Read',
  gb_out: 'Stored',
}

interface Loaded {
  month: string
  months: readonly string[]
  accounts: readonly AccountUsage[]
  cap: Usage['spend_cap']
}

const path = (scope: Scope, query: string): string =>
  `/api/v0/usage${scope === 'admin' ? '/accounts' : ''}${query === '' ? '' : `?${query}`}`

async function load(scope: Scope, month: string | null): Promise<Loaded> {
  const query = month === null ? '' : `month=${month}`
  if (scope === 'admin') return { ...(await request<UsageOfAccounts>(path(scope, query))), cap: null }
  const own = await request<Usage>(path(scope, query))
  return { month: own.month, months: own.months, accounts: own.lines.length > 0 ? [own] : [], cap: own.spend_cap }
}

async function download(scope: Scope, month: string): Promise<void> {
  const answer = await send(path(scope, `month=${month}&format=csv`))
  if (!answer.ok) throw toApiError(answer.status, await answer.text(), true)
  const address = URL.createObjectURL(await answer.blob())
  const link = document.createElement('a')
  link.href = address
  link.download = `usage-${month}.csv`
  link.click()
  URL.revokeObjectURL(address)
}

export function UsagePage({ scope }: { scope: Scope }) {
  const [month, setMonth] = useState<string | null>(null)
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    let isCurrent = true
    setFailure(null)
    load(scope, month).then(
      (answer) => isCurrent && setLoaded(answer),
      (error: unknown) => isCurrent && setFailure(asError(error)),
    )
    return () => void (isCurrent = false)
  }, [scope, month, attempt])
  return (
    <>
      <div class="head line apart">
        <h1>Usage</h1>
        {loaded === null ? null : (
          <div class="line low">
            <Months loaded={loaded} choose={setMonth} />
            <button
              type="button"
              onClick={() => void download(scope, loaded.month).catch((error: unknown) => setFailure(asError(error)))}
            >
              Download CSV
            </button>
          </div>
        )}
      </div>
      <p class="help">Months are in UTC. A job belongs to the month in which it ends.</p>
      {failure ? <ConnectionNotice failure={failure} retry={() => setAttempt(attempt + 1)} /> : null}
      {loaded === null ? (
        failure ? null : (
          <Loading label="Loading the usage" lines={3} />
        )
      ) : (
        <>
          {loaded.cap === null ? null : <SpendCap cap={loaded.cap} />}
          {loaded.accounts.length === 0 ? <p class="help">Nothing was used in this month.</p> : null}
          {loaded.accounts.map((each) => (
            <AccountTable key={each.account} of={each} named={scope === 'admin'} />
          ))}
          <History
            months={loaded.months}
            linesOf={async (each) => (await load(scope, each)).accounts.flatMap(({ lines }) => lines)}
          />
        </>
      )}
    </>
  )
}

function Months({ loaded, choose }: { loaded: Loaded; choose: (month: string) => void }) {
  const months = [...new Set([...loaded.months, loaded.month])].toSorted().toReversed()
  return (
    <label class="line">
      Month
      <select value={loaded.month} onChange={(event) => choose(event.currentTarget.value)}>
        {months.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  )
}

const money = (amount: number, currency: string): string =>
  `${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`

function SpendCap({ cap: { amount, spent, currency, resets_at: resetsAt } }: { cap: NonNullable<Loaded['cap']> }) {
  return (
    <section class="card stack" aria-label="Spend cap">
      <Bar label="Spend cap of this month" percent={percentOf(spent, amount)}>
        {`${money(spent, currency)} of ${money(amount, currency)}`}
      </Bar>
      <p class="help">
        {spent >= amount
          ? 'New jobs are refused until the next month begins, or until an administrator raises the cap.'
          : `At 100 %, new jobs are refused until ${resetsAt.slice(0, 10)}.`}
      </p>
    </section>
  )
}

const figure = (value: number | null): string =>
  value === null ? '–' : value.toLocaleString('en', { maximumFractionDigits: 6 })

/** The CSV has hours and gigabytes. */
function amountOf(item: UsageItem, quantity: number): string {
  if (item.endsWith('_hours')) return formatDuration(quantity * 3600)
  return item.startsWith('gb_') ? formatBytes(Math.round(quantity * 1e9)) : figure(quantity)
}

/** What most people ask: how many jobs, how much media, what it costs. */
function totals(lines: readonly UsageLine[], costs: AccountUsage['costs']): Tile[] {
  const amount = (item: UsageItem): Tile => [ITEMS[item], amountOf(item, sumOf(lines, item))]
  return [
    ['Jobs completed', figure(sumOf(lines, 'jobs', 'completed'))],
    ['Jobs failed', figure(sumOf(lines, 'jobs', 'failed'))],
    amount('source_hours'),
    amount('output_hours'),
    amount('cpu_hours'),
    amount('gb_out'),
    ...(costs.length === 0
      ? []
      : [['Costs', costs.map(({ amount, currency }) => money(amount, currency)).join(' + ')] satisfies Tile]),
  ]
}

function AccountTable({ of: { account, lines, costs }, named }: { of: AccountUsage; named: boolean }) {
  const id = `usage-of-${account}`
  const hasPrices = lines.some(({ unit_price: price }) => price !== null)
  return (
    <section class="card stack">
      <h2 id={id}>{named ? account : 'What was used'}</h2>
      <Tiles tiles={totals(lines, costs)} />
      <div class="scroll" tabIndex={0} role="region" aria-labelledby={id}>
        <table>
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col" class="text">
                Class
              </th>
              <th scope="col">Quantity</th>
              {hasPrices ? (
                <>
                  <th scope="col">Price</th>
                  <th scope="col">Cost</th>
                </>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Line
                key={[line.item, line.class, line.currency, line.unit_price].join(' ')}
                of={line}
                hasPrices={hasPrices}
              />
            ))}
          </tbody>
        </table>
      </div>
      {costs.length === 0 ? <p class="help">There are no costs, because this service has no price list.</p> : null}
    </section>
  )
}

/** "720p h264" as "720p · H.264"; "completed" as it is. */
const classLabel = (text: string): string => text.replace(/ (\w+)$/, (_, codec: string) => ` · ${codecName(codec)}`)

function Line({ of, hasPrices }: { of: UsageLine; hasPrices: boolean }) {
  const { item, class: usageClass, quantity, unit_price: price, cost, currency } = of
  return (
    <tr>
      <th scope="row">{ITEMS[item]}</th>
      <td class="text">{classLabel(usageClass)}</td>
      <td>{amountOf(item, quantity)}</td>
      {hasPrices ? (
        <>
          <td>{figure(price)}</td>
          <td>{cost === null || currency === null ? '–' : `${figure(cost)} ${currency}`}</td>
        </>
      ) : null}
    </tr>
  )
}
