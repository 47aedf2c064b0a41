// In charge of: making a source easier for ffmpeg to read: a playlist becomes one file, and so does a source that can
// only be read from its beginning, if the disk can hold it.
// Not in charge of: playlists (hls/hlsDownload.ts), serving the file (loopbackServer.ts).
import { createWriteStream, createReadStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { HLS_MAGIC } from '#contract/task/protocol.ts'
import type { Attempt } from '../attempt.ts'
import { TaskError } from '#contract/taskError.ts'
import { grantTraversal } from '../ffmpeg/sandbox.ts'
import { assemble, fileDuration, type AssemblyContext } from './hls/assemble.ts'
import { waitForEndedPlaylist, downloadTracks, type DiscontinuityPeriod } from './hls/hlsDownload.ts'
import type { Workspace } from '../workspace.ts'
import { DiskQuota } from './diskQuota.ts'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { FetchRange } from './sourceReader.ts'

function localFileInput(path: string, size: number): FetchRange {
  return async (range, _etag, signal) => {
    const first = range?.first ?? 0
    const last = Math.min(range?.last ?? size - 1, size - 1)
    if (first > last) return new Response(null, { status: 416, headers: { 'content-range': `bytes */${size}` } })
    const file = createReadStream(path, { start: first, end: last, highWaterMark: 256 * 1024, signal })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two declarations of one class
    const body = Readable.toWeb(file) as NodeReadableStream<Uint8Array> as ReadableStream<Uint8Array<ArrayBuffer>>
    return new Response(body, {
      status: range === null ? 200 : 206,
      headers: {
        'accept-ranges': 'bytes',
        'content-length': String(last - first + 1),
        ...(range === null ? {} : { 'content-range': `bytes ${first}-${last}/${size}` }),
      },
    })
  }
}

/** The rest of the free space is left for the outputs. */
const DOWNLOAD_SHARE = 0.5

/** `name`: of its directory, if it needs one. Opens the source. Afterwards the loopback server serves media, with random access if that is possible at all. */
export async function prepareSource(
  attempt: Attempt,
  { allowHlsSource }: Pick<JobSpec, 'allowHlsSource'>,
  name = 'source',
): Promise<{ size: number | null }> {
  const { engine, loopback, workspace, log, controller } = attempt
  const { size, ranges, head } = await loopback.open()
  const isPlaylist = allowHlsSource && isHls(head)
  if (!isPlaylist && ranges) return { size }
  const directory = join(workspace.root, name)
  await mkdir(directory, { mode: 0o700 })
  await grantTraversal(directory, engine.sandbox?.user ?? null)
  const path = isPlaylist ? await hlsFile(attempt, directory) : await downloadToDisk(attempt, size, directory)
  if (path === null) return { size }
  controller.signal.throwIfAborted()
  const bytes = (await stat(path)).size
  if (bytes === 0) throw new TaskError('source_not_media', 'The source is empty.')
  await loopback.replaceSource(localFileInput(path, bytes))
  log.info(isPlaylist ? 'segments joined' : 'source downloaded', { bytes })
  return { size: (await loopback.open()).size }
}

export function isHls(head: Uint8Array): boolean {
  return Buffer.from(head)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .startsWith(HLS_MAGIC)
}

async function hlsFile({ taskClient, engine, workspace, controller }: Attempt, directory: string): Promise<string> {
  const options = { directory, signal: controller.signal }
  const description = await waitForEndedPlaylist(taskClient, options)
  const tracks = await downloadTracks(taskClient, description, options)
  const context = { engine, directory, cwd: workspace.cwd, signal: controller.signal }
  const path = await assemble(tracks, context)
  await requireLength(path, tracks[0] ?? [], description.target_seconds, context)
  return path
}

/**
 * If no server announced a length, a segment that ended early looks complete; the playlist states the total duration.
 */
async function requireLength(
  path: string,
  stretches: readonly DiscontinuityPeriod[],
  targetSeconds: number,
  context: AssemblyContext,
): Promise<void> {
  // The duration of bare audio frames is only an estimate.
  if (stretches.some(({ kind }) => kind === 'audio')) return
  const promised = stretches.reduce((sum, { seconds }) => sum + seconds, 0)
  const seconds = await fileDuration(path, context)
  if (seconds === null || seconds >= promised * 0.95 - targetSeconds) return
  const message = `The source lasts ${seconds.toFixed(1)} s, and its playlist says ${promised.toFixed(1)} s.`
  throw new TaskError('source_incomplete', message, {
    details: { expected_seconds: promised, measured_seconds: seconds },
  })
}

/** What all sources of an attempt may occupy together: `inputs` may name many. */
const quotas = new WeakMap<Workspace, Promise<DiskQuota>>()

function quotaOfAll({ workspace }: Attempt): Promise<DiskQuota> {
  const known = quotas.get(workspace)
  if (known !== undefined) return known
  const opened = DiskQuota.open(workspace.root, { share: DOWNLOAD_SHARE, maxBytes: Number.POSITIVE_INFINITY })
  quotas.set(workspace, opened)
  return opened
}

/** Downloads a source without ranges once, for all its readers. Null = too large for this disk: it remains a stream. */
async function downloadToDisk(attempt: Attempt, size: number | null, directory: string): Promise<string | null> {
  const { loopback, controller, settings } = attempt
  const all = await quotaOfAll(attempt)
  // Only a source without a stated length can be endless.
  const maxBytes = size === null ? settings.maxUnknownSizeBytes : Number.POSITIVE_INFINITY
  const quota = await DiskQuota.open(directory, { share: DOWNLOAD_SHARE, maxBytes })
  if (size !== null && size > Math.min(quota.bytes, all.left)) return null
  if (size !== null) await all.reserve(size)
  const path = join(directory, 'spooled')
  const bounded = async function* (): AsyncGenerator<Uint8Array> {
    for await (const block of loopback.read(controller.signal)) {
      await quota.reserve(block.length)
      if (size === null) await all.reserve(block.length)
      yield block
    }
  }
  await pipeline(bounded(), createWriteStream(path))
  return path
}
