// In charge of: `uploads`: lists and deletes stored uploads, and manages tokens for pages whose visitors upload.
// Not in charge of: sending files (submitCommand.ts).
import type { ListedUpload } from '#contract/api/answers.ts'
import type { Client } from '../../client/nodeClient.ts'
import type { CommandResult } from '../commandResult.ts'
import { UsageError } from '../cliErrors.ts'
import { table } from '../text/table.ts'
import {
  formatAgo,
  formatBytes,
  parseBytes,
  formatBytesOf,
  formatTime,
  parseSeconds,
  formatUntil,
} from '../text/formatUnits.ts'

export interface UploadFlags {
  state?: string | undefined
  limit?: string | undefined
  cursor?: string | undefined
  'max-bytes'?: string | undefined
  'max-files'?: string | undefined
  expires?: string | undefined
  name?: string | undefined
}

export async function uploadsCommand(
  client: Client,
  words: readonly string[],
  flags: UploadFlags,
  width: number | null,
): Promise<CommandResult> {
  const [action, number] = words
  if (action === 'list' && number === undefined) {
    const { state, limit, cursor } = flags
    const query = Object.entries({ state, limit, cursor }).filter(([, value]) => value !== undefined)
    const document = await client.uploads(Object.fromEntries(query))
    return { document, text: listed(document.uploads, width), next: document.next_cursor }
  }
  if (action === 'delete' && number !== undefined && /^[1-9]\d{0,14}$/.test(number)) {
    await client.deleteUpload(Number(number))
    return { document: { deleted: Number(number) }, text: `Upload ${number} is deleted.` }
  }
  if (action === 'token' && number === undefined) return token(client, flags)
  throw new UsageError('Write: uploads list, uploads delete NUMBER, or uploads token')
}

async function token(client: Client, flags: UploadFlags): Promise<CommandResult> {
  const { name } = flags
  const document = await client.createUploadToken({
    ...(flags['max-bytes'] === undefined ? {} : { max_bytes: parseOption(parseBytes, flags['max-bytes']) }),
    ...(flags['max-files'] === undefined ? {} : { max_files: Number(flags['max-files']) }),
    ...(flags.expires === undefined ? {} : { expires_in_seconds: parseOption(parseSeconds, flags.expires) }),
    ...(name === undefined ? {} : { name }),
  })
  const { max_files, max_bytes, expires_at, upload_url } = document
  const terms = `For ${max_files} file${max_files === 1 ? '' : 's'} of at most ${formatBytes(max_bytes)}, until ${formatTime(expires_at)}, at ${upload_url}.`
  return { document, text: `${document.token}\n${terms} It is shown only once.` }
}

/** @throws UsageError with the message of `reader` */
export function parseOption<T>(reader: (text: string) => T, text: string): T {
  try {
    return reader(text)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function listed(found: readonly ListedUpload[], width: number | null): string {
  if (found.length === 0) return ''
  const columns = [
    { title: 'NUMBER', right: true },
    { title: 'NAME', flexible: true },
    { title: 'SIZE', right: true },
    { title: 'STATE' },
    { title: 'UPLOADED' },
    { title: 'EXPIRES' },
  ] as const
  const rows = found.map(({ uploaded_file_number: number, name, size, received, state, created_at, expires_at }) => [
    String(number),
    name,
    size === null ? '–' : state === 'ready' ? formatBytes(size) : formatBytesOf(received ?? 0, size),
    state,
    formatAgo(created_at),
    formatUntil(expires_at),
  ])
  return table(columns, rows, width)
}
