// In charge of: downloading an HLS source to disk: every resource is fetched through the task API, in order, and each
// discontinuity period of each track becomes one file. ffmpeg never reads a playlist.
// Not in charge of: playlists and addresses (the Worker), joining the files (assemble.ts).
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { HlsDescription, HlsSegment, HlsTrack } from '#contract/task/protocol.ts'
import type { TaskClient } from '../../taskApi/taskClient.ts'
import { TaskError } from '#contract/taskError.ts'
import { FragmentTimingReader, tracksOf, type Tracks } from '../../formats/mp4/fragmentTiming.ts'
import { TsTimingReader } from '../../formats/mpegts/segmentTiming.ts'
import { sleep } from '../../taskApi/retry.ts'
import { MinimumRate, type MinimumRateOptions } from '../minimumRate.ts'
import { ContinuityCheck, type Timings } from './continuityCheck.ts'
import { decryptAes128, SNIFF_BYTES, resourceKind, withoutId3Tag, type ResourceKind } from './mediaResource.ts'
import { DiskQuota } from '../diskQuota.ts'

/** The part of a track between two discontinuities. */
export interface DiscontinuityPeriod {
  path: string
  kind: ResourceKind
  /** The duration that the playlist states. */
  seconds: number
  /** Time of the first sample of packed audio, in 1/90,000 s; null if it is not stated. */
  ticks: number | null
}

export interface HlsDownloadOptions {
  directory: string
  signal: AbortSignal
  /** Milliseconds without a new segment after which a live event without an end is given up. */
  eventIdleMs?: number
  /** Milliseconds after which a live event is given up though it grows: the attempt holds a place that others wait for. */
  eventWaitMs?: number
  minimumRate?: MinimumRateOptions
}

const EVENT_IDLE_MS = 120_000
const EVENT_WAIT_MS = 15 * 60_000
/** Between two looks at a playlist. */
const MIN_LOOK_MS = 2000
/**
 * Share of the free disk: playlists do not state the size of resources. If they have to be joined, they need twice the
 * space for a while.
 */
const DISK_SHARE = 0.9
const DISK_SHARE_JOINED = 0.45
/** Limit of one resource, in addition to what its duration allows: 1 Gb/s. */
const RESOURCE_BYTES = 64 * 1024 * 1024
const MAX_BYTES_PER_SECOND = 125e6
const PACKET = 188
const MAX_INIT_BYTES = 1024 * 1024

/** Waits until a live event has ended: only complete events are transcoded. */
export async function waitForEndedPlaylist(
  taskClient: Pick<TaskClient, 'fetchHls'>,
  options: HlsDownloadOptions,
): Promise<HlsDescription> {
  const { signal, eventIdleMs = EVENT_IDLE_MS, eventWaitMs = EVENT_WAIT_MS } = options
  const began = performance.now()
  let count = -1
  let since = 0
  for (;;) {
    const found = await taskClient.fetchHls(signal)
    if (found.ended) return found
    const now = performance.now()
    const segments = found.tracks.reduce((sum, track) => sum + track.segments.length, 0)
    if (segments !== count) [count, since] = [segments, now]
    if (now - since > eventIdleMs) {
      const why = `The source is an event that has not ended, and nothing was added to it for ${eventIdleMs / 1000} s.`
      throw new TaskError('source_incomplete', why, { details: { segments } })
    }
    if (now - began > eventWaitMs) {
      const why = `The source is an event that had not ended after ${eventWaitMs / 60_000} minutes of waiting. Send the job again when its playlist has EXT-X-ENDLIST.`
      throw new TaskError('source_incomplete', why, { details: { segments } })
    }
    // RFC 8216, 6.3.4: wait half of the target duration if the playlist has not changed.
    await sleep(Math.min(eventIdleMs, eventWaitMs, 10_000, Math.max(MIN_LOOK_MS, found.target_seconds * 500)), signal)
  }
}

/** All tracks in parallel, the resources of each in order. */
export async function downloadTracks(
  taskClient: Pick<TaskClient, 'fetchHlsResource'>,
  description: HlsDescription,
  options: HlsDownloadOptions,
): Promise<DiscontinuityPeriod[][]> {
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const keys = new Map<number, Promise<Uint8Array>>()
  const share = isSinglePeriod(description) ? DISK_SHARE : DISK_SHARE_JOINED
  const quota = await DiskQuota.open(options.directory, { share, maxBytes: Number.POSITIVE_INFINITY })
  const shared = { taskClient, playlistDigest: description.playlist_digest, keys, quota, ...options, signal }
  const work = description.tracks.map((track, index) =>
    downloadTrack({ ...shared, rate: new MinimumRate(options.minimumRate) }, track, index).catch((error: unknown) => {
      failed.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(work)
  // The first failure is the reason; the others follow from it.
  signal.throwIfAborted()
  return Promise.all(work)
}

/** True for one track without discontinuities. */
function isSinglePeriod({ tracks }: HlsDescription): boolean {
  const [only, ...others] = tracks
  const map = only?.segments[0]?.map
  return others.length === 0 && !only?.segments.some((segment) => segment.discontinuity || segment.map !== map)
}

interface DownloadContext extends HlsDownloadOptions {
  taskClient: Pick<TaskClient, 'fetchHlsResource'>
  playlistDigest: string
  keys: Map<number, Promise<Uint8Array>>
  quota: DiskQuota
  /** The rate check of this track. */
  rate: MinimumRate
}

async function downloadTrack(context: DownloadContext, track: HlsTrack, index: number): Promise<DiscontinuityPeriod[]> {
  const periods: DiscontinuityPeriod[] = []
  let file: FileHandle | null = null
  let end = 0
  let before: HlsSegment | null = null
  let check = new ContinuityCheck(track.integer_durations)
  let tracks: Tracks = new Map()
  try {
    for (const [n, segment] of track.segments.entries()) {
      if (before === null || segment.discontinuity || segment.map !== before.map) {
        check.end()
        check = new ContinuityCheck(track.integer_durations)
        await file?.close()
        const path = join(context.directory, `track-${index}-${periods.length}`)
        file = await open(path, 'w')
        end = 0
        periods.push({ path, kind: 'mpegts', seconds: 0, ticks: null })
        const map = segment.map === null ? undefined : track.maps[segment.map]
        tracks = new Map()
        if (map) {
          end = await downloadResource(context, file, end, { name: `${index}/maps/${segment.map}`, ...map }, null)
          tracks = tracksOf(await readInitSegment(path))
        }
      }
      const period = periods.at(-1)!
      period.seconds += segment.seconds
      const hasMap = segment.map !== null
      const resource = { name: `${index}/segments/${n}`, ...segment }
      const media: SegmentState = { period, hasMap, tracks, timings: null }
      const size = await downloadResource(context, file!, end, resource, media)
      if (period.kind === 'mpegts' && (size - end) % PACKET !== 0) {
        throw new TaskError('source_incomplete', `Segment ${n + 1} of the source is cut: it ends within a packet.`)
      }
      check.push(n + 1, segment.seconds, media.timings)
      end = size
      before = segment
    }
    check.end()
  } finally {
    await file?.close()
  }
  return periods
}

interface SegmentState {
  period: DiscontinuityPeriod
  hasMap: boolean
  /** The tracks of fragmented MP4. */
  tracks: Tracks
  /** Known once the segment was downloaded. */
  timings: Timings
}

/** Writes one resource at `from`; a retry overwrites a failed try. Returns the position of its end. */
async function downloadResource(
  context: DownloadContext,
  file: FileHandle,
  from: number,
  resource: { name: string; key: number | null; iv: string | null; seconds?: number },
  media: SegmentState | null,
): Promise<number> {
  const { taskClient, playlistDigest, signal, quota, rate } = context
  const mostBytes = RESOURCE_BYTES + (resource.seconds ?? 0) * MAX_BYTES_PER_SECOND
  let written = 0
  const key = resource.key === null ? null : await keyOf(context, resource.key)
  let asked = performance.now()
  return taskClient.fetchHlsResource(`${playlistDigest}/${resource.name}`, signal, async (body) => {
    await file.truncate(from)
    quota.release(written)
    written = 0
    const coming = rate.throttleCheck(body, asked)
    asked = performance.now()
    const clear = key === null ? coming : decryptAes128(coming, key, resource.iv ?? '')
    let at = from
    let reader: TsTimingReader | FragmentTimingReader | null = null
    for await (const block of media === null ? clear : detectKind(clear, media.period, media.hasMap, from === 0)) {
      if (media !== null) reader ??= timingReaderFor(media)
      reader?.push(block)
      written += block.length
      if (written > mostBytes)
        throw new TaskError('source_too_large', `A file of the source has no end: ${written} bytes were read.`)
      await quota.reserve(block.length)
      await file.write(block, 0, block.length, at)
      at += block.length
    }
    if (at === from) throw new TaskError('source_incomplete', 'A file of the source is empty.')
    if (media !== null) media.timings = reader?.end() ?? null
    return at
  })
}

function timingReaderFor({ period, tracks }: SegmentState): TsTimingReader | FragmentTimingReader | null {
  if (period.kind === 'mpegts') return new TsTimingReader()
  return period.kind === 'mp4' ? new FragmentTimingReader(tracks) : null
}

/** Reads an initialisation section, up to the size limit. */
async function readInitSegment(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const bytes = Buffer.alloc(MAX_INIT_BYTES)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/**
 * Passes the segment's media on, once its first bytes show that it is media, and of the same kind as the segments
 * before.
 */
async function* detectKind(
  blocks: AsyncIterable<Uint8Array>,
  period: DiscontinuityPeriod,
  hasMap: boolean,
  first: boolean,
): AsyncGenerator<Uint8Array> {
  const iterator = blocks[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < SNIFF_BYTES) {
    const next = await iterator.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const kind = resourceKind(head, hasMap)
  if (kind === null) {
    throw new TaskError('source_not_media', 'A segment of the source is not media: neither a transport stream nor MP4.')
  }
  if (first || hasMap) period.kind = kind
  else if (kind !== period.kind) throw new TaskError('source_damaged', 'The source mixes MPEG-TS and MP4 segments.')
  const all = (async function* () {
    if (head.length > 0) yield head
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
  yield* kind === 'audio' ? withoutId3Tag(all, (ticks) => (period.ticks ??= ticks)) : all
}

function keyOf(context: DownloadContext, n: number): Promise<Uint8Array> {
  const known = context.keys.get(n)
  if (known) return known
  const loading = context.taskClient.fetchHlsResource(
    `${context.playlistDigest}/keys/${n}`,
    context.signal,
    async (body) => {
      const blocks: Uint8Array[] = []
      for await (const block of body) blocks.push(block)
      const key = Buffer.concat(blocks)
      if (key.length !== 16) throw new TaskError('source_damaged', 'A key of the source is not 16 bytes long.')
      return key
    },
  )
  context.keys.set(n, loading)
  return loading
}
