// In charge of: downloading one file into a directory, completely or not at all.
// Not in charge of: which files exist (downloadAll.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { NetworkError, ServiceError } from '../clientErrors.ts'
import { fetchOrFail, describeError } from '../serviceRequest.ts'

/** What is known about a file before it is fetched. Elements of `status.outputs` have this form. */
export interface RemoteFile {
  /** Relative to the job's destination. */
  path: string
  /** null: only `location` is known. */
  url: string | null
  /** The object's location in the form of its provider. It is used as an address if it is an http(s) URL. */
  location?: string
  size: number
  /** Hex; null if the service did not announce it. */
  sha256: string | null
}

export interface Downloaded {
  /** Path of the downloaded file. */
  file: string
  /** The file already already, with the same content. */
  already: boolean
}

/**
 * The file gets its final name only if its size and SHA-256 match. Nothing is written outside of `directory`.
 * @param received called with the number of bytes of each chunk that arrives
 * @throws ServiceError, NetworkError (also if the content does not match)
 */
export async function download(
  output: RemoteFile,
  directory: string,
  signal?: AbortSignal,
  received?: (bytes: number) => void,
): Promise<Downloaded> {
  const file = localPathOf(output.path, directory)
  if (await matchesFile(file, output)) return { file, already: true }
  // URL.parse does not exist in Node 20.
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

/** An address that needs no key; null if there is none. */
export function downloadUrlOf({ url, location = '' }: RemoteFile): string | null {
  return url ?? (/^https?:\/\//.test(location) ? location : null)
}

/** Up to 72 hours after the job, each output has an address if its store can create signed ones. */
export function notDownloadable({ path, location = 'unknown' }: RemoteFile): string {
  return `${path} is in your own store (${location}), and the service has no download address for it. Download it from that store.`
}

/** The leading slash prevents "../../" from leaving the directory. */
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
      throw new NetworkError(
        `The download of ${output.path} was interrupted after ${size} bytes: ${describeError(error)}.`,
        { cause: error },
      )
    })
    if (next.done) break
    hash.update(next.value)
    size += next.value.length
    await file.writeFile(next.value)
    received?.(next.value.length)
  }
  if (size !== output.size) throw new NetworkError(`${output.path} has ${size} bytes instead of ${output.size}.`)
  if (output.sha256 !== null && hash.digest('hex') !== output.sha256) {
    throw new NetworkError(`${output.path} was damaged in transit (SHA-256 differs).`)
  }
}

/** A file without an announced SHA-256 never matches, so it is fetched again. */
async function matchesFile(file: string, { size, sha256 }: RemoteFile): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  if (!found?.isFile() || found.size !== size || sha256 === null) return false
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex') === sha256
}
