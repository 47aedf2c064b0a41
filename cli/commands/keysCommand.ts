// In charge of: `keys`: list, issue, rotate and revoke.
import type { Key } from '#contract/api/administration.ts'
import type { Client } from '../../client/nodeClient.ts'
import type { CommandResult } from '../commandResult.ts'
import { stripControlCharacters, UsageError } from '../cliErrors.ts'
import { table } from '../text/table.ts'
import { formatAgo, parseSeconds } from '../text/formatUnits.ts'
import { parseOption } from './uploadsCommand.ts'

export interface KeyFlags {
  account?: string | undefined
  label?: string | undefined
  scope?: string[] | undefined
  expires?: string | undefined
}

export async function keysCommand(
  client: Client,
  words: readonly string[],
  flags: KeyFlags,
  width: number | null,
): Promise<CommandResult> {
  const [action = '', id] = words
  const needsId = action === 'rotate' || action === 'revoke'
  if (needsId !== (id !== undefined)) {
    throw new UsageError(
      needsId
        ? `The id of the key is missing: splicepoint keys ${action} ID`
        : 'Write: keys list|issue|rotate ID|revoke ID',
    )
  }
  switch (action) {
    case 'list': {
      const document = await client.keys()
      return { document, text: listed(document.keys, width) }
    }
    case 'issue': {
      const { account, label, scope, expires } = flags
      const document = await client.issueKey({
        ...(account === undefined ? {} : { account }),
        ...(label === undefined ? {} : { label }),
        ...(scope === undefined ? {} : { scopes: scope }),
        ...(expires === undefined ? {} : { expires_in_seconds: parseOption(parseSeconds, expires) }),
      })
      return { document, text: `${document.key}\nStore it now: it is shown only once.` }
    }
    case 'rotate': {
      const document = await client.rotateKey(id ?? '')
      const kept = `${document.key}\nStore it now: it is shown only once. ${id} is revoked and stops working within a minute.`
      const warned = document.warnings.map(({ code, message }) =>
        stripControlCharacters(`warning: ${code}: ${message}`),
      )
      return { document, text: [kept, ...warned].join('\n') }
    }
    case 'revoke':
      await client.revokeKey(id ?? '')
      return { document: { id, revoked: true }, text: `${id} is revoked; it stops working within a minute.` }
    default:
      throw new UsageError(`keys ${action} is unknown: list, issue, rotate ID or revoke ID.`)
  }
}

function listed(found: readonly Key[], width: number | null): string {
  if (found.length === 0) return ''
  const columns = [
    { title: 'ID' },
    { title: 'ACCOUNT' },
    { title: 'LABEL', flexible: true },
    { title: 'SCOPES' },
    { title: 'LAST USED' },
    { title: 'STATE' },
  ] as const
  const rows = found.map(({ id, account, label, scopes, revoked_at, expires_at, last_used_at }) => [
    id,
    account,
    label,
    scopes.join(','),
    last_used_at === null ? 'never' : formatAgo(last_used_at),
    revoked_at !== null
      ? `revoked ${formatAgo(revoked_at)}`
      : expires_at === null
        ? 'active'
        : `${Date.parse(expires_at) > Date.now() ? 'until' : 'expired'} ${expires_at.slice(0, 10)}`,
  ])
  return table(columns, rows, width)
}
