// In charge of: bringing one file below a directory, whole or not at all.
// Not in charge of: which files there are (downloadAll.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { NetworkError, ServiceError } from '../clientErrors.ts'
import { fetchOrFail, describeError } from '../serviceRequest.ts'

/** What is known of a file before it is fetched; an element of `status.outputs` is one. */
export interface RemoteFile {
  /** Relative to the job's destination. */
  path: string
  /** null: nothing but its place is known. */
  url: string | null
  /** The object's own place, in the form of its provider; read where it is an address of the web. */
  location?: string
  size: number
  /** Hex; null where it was not announced. */
  sha256: string | null
}

export interface Downloaded {
  /** Where it is now. */
  file: string
  /** It was there before, byte for byte. */
  already: boolean
}

/**
 * The file gets its name only when size and SHA-256 are the announced ones. Nothing is written outside of `directory`.
 * @param received called with the number of bytes of each piece that arrives
 * @throws ServiceError, NetworkError (also for bytes that are not the announced ones)
 */
export async function download(
  output: RemoteFile,
  directory: string,
  signal?: AbortSignal,
  received?: (bytes: number) => void,
): Promise<Downloaded> {
  const file = localPathOf(output.path, directory)
  if (await matchesFile(file, output)) return { file, already: true }
  // URL.parse is newer than Node 20.
  const address = downloadUrlOf(output)
  const url = address !== null && URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(notDownloadable(output))
  const response = await fetchOrFail(url, { signal: signal ?? null })
  if (response.status !== 200 || !response.body) {
    throw new ServiceError(response.status, await response.text().catch(() => ''))
  }
  await mkdir(dirname(file), { recursive: true })
  const partial = `${file}.part`
  try {
    await write(response.body, partial, output, received)
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  return { file, already: false }
}

/** Where it can be read without a key; null where it cannot. */
export function downloadUrlOf({ url, location = '' }: RemoteFile): string | null {
  return url ?? (/^https?:\/\//.test(location) ? location : null)
}

/** Until 72 hours after the job, a store that can make addresses has one for each output. */
export function notDownloadable({ path, location = 'unknown' }: RemoteFile): string {
  return `${path} is in a store of yours (${location}), and the service has no address for reading it: fetch it there.`
}

/** "../../" cannot climb above the slash. */
export function localPathOf(path: string, directory: string): string {
  return join(directory, normalize(`/${path}`))
}

async function write(
  body: AsyncIterable<Uint8Array>,
  path: string,
  output: RemoteFile,
  received?: (bytes: number) => void,
): Promise<void> {
  const hash = createHash('sha256')
  let size = 0
  await using file = await open(path, 'w')
  const chunks = body[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      throw new NetworkError(`${output.path} broke off after ${size} bytes: ${describeError(error)}.`, { cause: error })
    })
    if (next.done) break
    hash.update(next.value)
    size += next.value.length
    await file.writeFile(next.value)
    received?.(next.value.length)
  }
  if (size !== output.size) throw new NetworkError(`${output.path} has ${size} bytes instead of ${output.size}.`)
  if (output.sha256 !== null && hash.digest('hex') !== output.sha256) {
    throw new NetworkError(`${output.path} arrived damaged (SHA-256).`)
  }
}

/** A file without an announced SHA-256 is fetched again. */
async function matchesFile(file: string, { size, sha256 }: RemoteFile): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  if (!found?.isFile() || found.size !== size || sha256 === null) return false
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex') === sha256
}
