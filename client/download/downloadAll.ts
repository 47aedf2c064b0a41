// In charge of: downloading all files of a finished job into a directory, including the segments of its playlists.
// Not in charge of: a single file (downloadFile.ts).
import { readFile } from 'node:fs/promises'
import type { JobRead } from '#contract/api/answers.ts'
import {
  downloadUrlOf,
  download,
  localPathOf,
  notDownloadable,
  type Downloaded,
  type RemoteFile,
} from './downloadFile.ts'
import { isTransient } from '../clientErrors.ts'
import { sleep } from '../sleep.ts'

export interface DownloadOptions {
  /** Files downloaded at the same time. Default: 6. */
  concurrency?: number
  /** Called when bytes arrive, or when a file is found to exist already. `total` counts all files. Default: none. */
  progress?: (progress: DownloadProgress) => void
  /** Default: none. */
  signal?: AbortSignal | undefined
}

export interface DownloadProgress {
  bytes: number
  totalBytes: number
  files: number
  totalFiles: number
}

export interface DownloadedFile extends Downloaded {
  /** Relative to the job's destination. */
  path: string
  size: number
  sha256: string | null
}

const TRIES = 4
const PAUSE_MS = 500

/**
 * Manifests are downloaded last, so that a manifest in the directory always has all its files. An existing file with
 * the same content is kept.
 * @throws ServiceError, NetworkError; Error if the job has no outputs, or not all of its files are known
 */
export async function downloadAll(
  { status }: Pick<JobRead, 'status'>,
  directory: string,
  { concurrency = 6, progress, signal }: DownloadOptions = {},
): Promise<DownloadedFile[]> {
  const files = await filesOf(status.outputs, directory, signal)
  const sum = { bytes: 0, totalBytes: 0, files: 0, totalFiles: files.length }
  for (const { size } of files) sum.totalBytes += size
  const got = new Map<string, DownloadedFile>()
  const bring = async (file: RemoteFile): Promise<void> => {
    const { path, size, sha256 } = file
    let counted = 0
    const count = (bytes: number): void => {
      counted += bytes
      sum.bytes += bytes
      progress?.({ ...sum })
    }
    const found = await withRetries(signal, () => {
      // The bytes of an interrupted try are fetched again.
      count(-counted)
      return download(file, directory, signal, count)
    })
    sum.files += 1
    count(size - counted)
    got.set(path, { path, ...found, size, sha256 })
  }
  const waiting = files.toSorted((a, b) => downloadOrder(a) - downloadOrder(b))
  const boundary = waiting.findIndex((file) => downloadOrder(file) > 0)
  for (const batch of boundary < 0 ? [waiting] : [waiting.slice(0, boundary), waiting.slice(boundary)]) {
    await forEachConcurrent(batch, concurrency, bring)
  }
  return files.map(({ path }) => got.get(path)!)
}

type Output = JobRead['status']['outputs'][number]

/** The outputs, and the further files in the job's report. */
async function filesOf(outputs: readonly Output[], directory: string, signal?: AbortSignal): Promise<RemoteFile[]> {
  if (outputs.length === 0) throw new Error('The job has no outputs to download.')
  const unlisted = outputs.reduce((sum, { segments }) => sum + (segments?.count ?? 0), 0)
  if (unlisted === 0) return [...outputs]
  const report = outputs.find(({ role }) => role === 'report')
  if (!report) throw new Error('The job has no job.json, so its segments are unknown.')
  await withRetries(signal, () => download(report, directory, signal))
  const root = jobRootOf(report)
  const known = new Set(outputs.map(({ path }) => path))
  const segments = readReport(await readFile(localPathOf(report.path, directory), 'utf8'))
    .filter(({ path }) => !known.has(path))
    .map((file) => ({ ...file, url: `${root}${encoded(file.path)}` }))
  if (segments.length < unlisted) {
    throw new Error(
      `job.json lists ${segments.length} of ${unlisted} segments, since there are too many of them. Download the job as one archive (status.archive_url; splicepoint archive).`,
    )
  }
  return [...outputs, ...segments]
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/**
 * In the service's own store, all addresses of a job have one signed prefix. Addresses on an http server are used as
 * they are.
 */
function jobRootOf(report: Output): string {
  const address = downloadUrlOf(report)
  if (address?.endsWith(`/${encoded(report.path)}`) === true) return address.slice(0, -encoded(report.path).length)
  const message = 'Segments in your own store have no download addresses. Download the directory from that store.'
  throw new Error(address === null ? notDownloadable(report) : `${report.location}: ${message}`)
}

function readReport(json: string): Omit<RemoteFile, 'url'>[] {
  const { objects } = JSON.parse(json) as { objects?: unknown }
  if (!Array.isArray(objects)) throw new Error('job.json lists no objects.')
  return (objects as { path?: unknown; size?: unknown; sha256?: unknown }[]).map(({ path, size, sha256 }) => {
    const isWhole = typeof path === 'string' && Number.isSafeInteger(size)
    if (!isWhole || !(sha256 === null || typeof sha256 === 'string')) throw new Error('job.json cannot be read.')
    return { path, size: Number(size), sha256 }
  })
}

/** Files that refer to other files come last. */
function downloadOrder({ path }: RemoteFile): number {
  return /(\.(m3u8|mpd|json)|\/Manifest)$/.test(path) ? 1 : 0
}

async function withRetries<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (let failed = 1; ; failed += 1) {
    try {
      return await work()
    } catch (error) {
      if (failed === TRIES || !isTransient(error)) throw error
      await sleep(PAUSE_MS * failed, signal)
    }
  }
}

/** Stops at the first error and waits for the running downloads, so that nothing is written afterwards. */
async function forEachConcurrent<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  let failed = false
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failed) return
      try {
        await work(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.max(1, Math.min(width, items.length)) }, worker))
  const first = ends.find((end) => end.status === 'rejected')
  if (first) throw first.reason
}
