// In charge of: finding an earlier upload of the same file that is still stored, completely or in part.
// Not in charge of: when two files are the same, sending the rest (uploadFile.ts).
import type { ListedUpload, UploadList } from '#contract/api/answers.ts'
import { ServiceError } from '../clientErrors.ts'
import { readJsonAnswer, sendRequest, type ServiceConnection } from '../serviceRequest.ts'

export const FINGERPRINT = 'fingerprint'

/** How many uploads are examined, newest first: pages of the list, and candidates with the right size. */
const PAGES = 5
const CANDIDATES = 20
/** The upload must stay long enough for a job to read it. */
const MIN_REMAINING_MS = 3600_000

export interface StoredUpload {
  upload: ListedUpload
  /** Bytes that the service has stored. */
  offset: number
}

/** @returns null if there is none, or if the credentials may not list uploads */
export async function findStoredUpload(
  service: ServiceConnection,
  wanted: { name: string; size: number; fingerprint: string },
): Promise<StoredUpload | null> {
  try {
    for (const upload of await candidates(service, wanted.size)) {
      const path = `/uploads/${upload.uploaded_file_number}`
      const standing = await sendRequest(service, path, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } })
      const metadata = readMetadata(standing.headers.get('upload-metadata') ?? '')
      if (metadata.get(FINGERPRINT) !== wanted.fingerprint || metadata.get('filename') !== wanted.name) continue
      return { upload, offset: Number(standing.headers.get('upload-offset')) }
    }
  } catch (error) {
    // The search is optional. If something is wrong with the service, sending the file reports it.
    if (!(error instanceof ServiceError)) throw error
  }
  return null
}

async function candidates(service: ServiceConnection, size: number): Promise<ListedUpload[]> {
  const found: ListedUpload[] = []
  let cursor: string | null = ''
  for (let page = 0; page < PAGES && cursor !== null && found.length < CANDIDATES; page += 1) {
    const query = new URLSearchParams({ limit: '100', ...(cursor === '' ? {} : { cursor }) })
    const answer: UploadList = await readJsonAnswer(await sendRequest(service, `/uploads?${query.toString()}`))
    const until = Date.now() + MIN_REMAINING_MS
    found.push(...answer.uploads.filter((each) => each.size === size && Date.parse(each.expires_at) > until))
    cursor = answer.next_cursor
  }
  return found.slice(0, CANDIDATES)
}

/** tus 1.0.0, Upload-Metadata: "key base64(value)" pairs, separated by commas. */
function readMetadata(header: string): Map<string, string> {
  const pairs = header.split(',').map((pair) => pair.trim().split(' '))
  return new Map(pairs.map(([key = '', value = '']) => [key, decoded(value)]))
}

function decoded(value: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(value), (character) => character.codePointAt(0)!))
  } catch {
    return ''
  }
}
