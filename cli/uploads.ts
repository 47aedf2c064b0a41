// In charge of: `uploads`: what was uploaded and is still there, and deleting it.
// Not in charge of: sending files (submit.ts).
import type { ListedUpload } from '#contract/answers.ts'
import type { Client } from '../client/client.ts'
import { plain, UsageError } from './failure.ts'

export interface UploadFlags {
  state?: string | undefined
  limit?: string | undefined
  cursor?: string | undefined
}

/** @returns what the service answered, and the same for people */
export async function uploads(
  client: Client,
  words: string[],
  { state, limit, cursor }: UploadFlags,
  note: (text: string) => void,
): Promise<{ answer: unknown; text: string }> {
  const [action, number] = words
  if (action === 'list' && number === undefined) {
    const query = Object.entries({ state, limit, cursor }).filter(([, value]) => value !== undefined)
    const answer = await client.uploads(Object.fromEntries(query) as Record<string, string>)
    if (answer.next_cursor !== null) note(`More: --cursor ${answer.next_cursor}`)
    return { answer, text: answer.uploads.map(line).join('\n') }
  }
  if (action === 'delete' && number !== undefined && /^[1-9]\d{0,14}$/.test(number)) {
    await client.deleteUpload(Number(number))
    return { answer: { deleted: Number(number) }, text: `Upload ${number} is deleted.` }
  }
  throw new UsageError('Write: uploads list, or uploads delete NUMBER')
}

function line({ uploaded_file_number: number, name, size, received, state, expires_at }: ListedUpload): string {
  const extent = state === 'ready' ? `${size} bytes` : `${received ?? '?'} of ${size ?? '?'} bytes`
  return plain([number, extent, state, `until ${expires_at}`, name].join('  '))
}
