// In charge of: `keys`: list, issue, rotate and revoke.
import type { Key } from '#contract/answers.ts'
import type { Client } from '../client/client.ts'
import { plain, UsageError } from './failure.ts'

export interface KeyFlags {
  account?: string | undefined
  label?: string | undefined
  scope?: string[] | undefined
}

/** @returns what the service answered, and the same for people */
export async function keys(
  client: Client,
  words: string[],
  flags: KeyFlags,
): Promise<{ answer: unknown; text: string }> {
  const [action = '', id] = words
  const needsId = action === 'rotate' || action === 'revoke'
  if (needsId !== (id !== undefined)) {
    throw new UsageError(
      needsId ? `Which key? splicepoint keys ${action} ID` : 'Write: keys list|issue|rotate ID|revoke ID',
    )
  }
  switch (action) {
    case 'list': {
      const answer = await client.keys()
      return { answer, text: answer.keys.map(line).join('\n') }
    }
    case 'issue': {
      const { account, label, scope } = flags
      const answer = await client.issueKey({
        ...(account === undefined ? {} : { account }),
        ...(label === undefined ? {} : { label }),
        ...(scope === undefined ? {} : { scopes: scope }),
      })
      return { answer, text: `${answer.key}\nKeep it: it is shown this once.` }
    }
    case 'rotate': {
      const answer = await client.rotateKey(id ?? '')
      const kept = `${answer.key}\nKeep it: it is shown this once. ${id} is revoked and stops within a minute.`
      const warned = answer.warnings.map(({ code, message }) => plain(`warning: ${code}: ${message}`))
      return { answer, text: [kept, ...warned].join('\n') }
    }
    case 'revoke':
      await client.revokeKey(id ?? '')
      return { answer: { id, revoked: true }, text: `${id} is revoked; it stops within a minute.` }
    default:
      throw new UsageError(`keys ${action} is unknown: list, issue, rotate ID or revoke ID.`)
  }
}

function line({ id, account, label, scopes, revoked_at, last_used_at }: Key): string {
  const state = revoked_at === null ? `last used ${last_used_at ?? 'never'}` : `revoked ${revoked_at}`
  return plain([id, account, scopes.join(','), state, label].join('  '))
}
