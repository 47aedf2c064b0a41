// In charge of: `share`: pages that play a job's outputs without a key.
import type { Share } from '#contract/api/answers.ts'
import type { Client } from '../../client/nodeClient.ts'
import type { CommandResult } from '../commandResult.ts'
import { stripControlCharacters } from '../cliErrors.ts'
import { table } from '../text/table.ts'
import { formatAgo, formatTime, parseSeconds, formatUntil } from '../text/formatUnits.ts'
import { parseOption } from './uploadsCommand.ts'

export interface ShareFlags {
  title?: string | undefined
  expires?: string | undefined
  password?: string | undefined
  list?: boolean | undefined
  revoke?: string | undefined
}

export async function shareCommand(
  client: Client,
  id: number,
  flags: ShareFlags,
  width: number | null,
): Promise<CommandResult> {
  if (flags.revoke !== undefined) {
    await client.revokeShare(id, flags.revoke)
    return { document: { revoked: flags.revoke }, text: `Share ${flags.revoke} is revoked.` }
  }
  if (flags.list === true) {
    const document = await client.shares(id)
    return { document, text: listed(document.shares, width) }
  }
  const document = await createShare(client, id, flags)
  return { document, text: shareText(document) }
}

export function createShare(client: Client, id: number, { title, expires, password }: ShareFlags): Promise<Share> {
  return client.share(id, {
    ...(title === undefined ? {} : { title }),
    ...(expires === undefined ? {} : { expires_in_seconds: parseOption(parseSeconds, expires) }),
    ...(password === undefined ? {} : { password }),
  })
}

export function shareText({ url, expires_at, has_password: isLocked }: Share): string {
  const how = isLocked ? 'with the password' : 'without a key'
  return stripControlCharacters(`${url}\nPlays in any browser ${how}, until ${formatTime(expires_at)}.`)
}

function listed(shares: readonly Share[], width: number | null): string {
  if (shares.length === 0) return ''
  const columns = [
    { title: 'SHARE' },
    { title: 'TITLE', flexible: true },
    { title: 'CREATED' },
    { title: 'EXPIRES' },
    { title: 'PAGE' },
  ] as const
  const rows = shares.map(({ share_id, title, created_at, expires_at, url }) => [
    share_id,
    title,
    formatAgo(created_at),
    formatUntil(expires_at),
    url,
  ])
  // A truncated address is useless, so the last column may exceed the width.
  return table(columns, rows, width === null ? null : width + Math.max(...shares.map(({ url }) => url.length)))
}
