// In charge of: where ffmpeg begins to read for one stretch of the audio of a transport stream, by its time stamps, and
// whether it then read all of it.
// Not in charge of: searching the source (analysis/transportSeek.ts), measuring (measureShare.ts), sources with an index
// (analysis/expectedBytes.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { readPesTimestamps } from '../../formats/mpegts/clock.ts'
import { isPayloadStart, PacketReader, payloadOf, pidOf } from '../../formats/mpegts/packet.ts'
import type { LoudnessShare } from '../../plan/division/loudnessSurvey.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import { outputStartSeconds } from '../../plan/streams/outputTiming.ts'
import { ExpectedBytes } from '../../source/expectedBytes.ts'
import type { LoopbackServer } from '../../source/loopbackServer.ts'
import { TransportReads } from '../../source/transportReads.ts'
import { TransportSearch } from '../transportSeek.ts'

/** On ffmpeg's clock of the file, in seconds. */
export interface StampedShare {
  /** ffmpeg looks for this time, and begins no later; null = it begins with the source. */
  fromSeconds: number | null
  /** The audio that counts; null = to the end of the source. */
  beginSeconds: number
  endSeconds: number | null
}

/** A multiplexer sends audio later than video of the same time, and some send it earlier. */
const EARLIER_SECONDS = [1, 5, 15, 40] as const
/** ffmpeg searches by itself, and ends a little earlier. */
const SEARCH_SPREAD_BYTES = 256 * 1024
/** Frames of audio are this much later in the source than video of the same time, at most. */
const RUN_OUT_SECONDS = 6
const BLOCK_BYTES = 1024 * 1024
/** In so much of a source each of its audio streams has a frame. */
const MOST_BLOCKS = 16

interface Source {
  spec: JobSpec
  /** Without the cut. */
  media: MediaInfo
  /** Of the job; null = it uses all of the source. */
  cut: { startSeconds: number; endSeconds: number | null } | null
}

/** What one reader of a stretch saw; `isWhole`: it read from the place on, and the time stamps ran on. */
export interface StretchReading {
  share: StampedShare
  isWhole: () => boolean
}

/**
 * `runInSeconds`: so much before the stretch is read, too. `streams`: numbers of its audio streams. null = it cannot be
 * said where it is.
 */
export async function locateShare(
  loopback: Pick<LoopbackServer, 'open' | 'readRange' | 'expect' | 'observe'>,
  { spec, media, cut }: Source,
  { startSeconds, endSeconds }: LoudnessShare,
  { runInSeconds, streams }: { runInSeconds: number; streams: readonly number[] },
  signal: AbortSignal,
): Promise<StretchReading | null> {
  const { size } = await loopback.open()
  const used = media.audio.filter(({ number }) => streams.includes(number))
  const pids = used.flatMap(({ id }) => id ?? [])
  if (size === null || pids.length < used.length) return null
  const read = (first: number, count: number) => loopback.readRange(first, count, signal)
  const search = TransportSearch.of(read, size, media)
  if (search === null) return null
  const output = outputStartSeconds(spec, media)
  const begin = output + (cut?.startSeconds ?? 0)
  const cutEnd = cut?.endSeconds == null ? null : output + cut.endSeconds
  const end = endSeconds === null ? cutEnd : begin + endSeconds
  const isFirst = startSeconds === 0 && cut === null
  const share: StampedShare = {
    fromSeconds: null,
    // Without a cut, audio before the first frame counts.
    beginSeconds: isFirst
      ? Math.min(begin, ...used.flatMap(({ startSeconds: from }) => from ?? []))
      : begin + startSeconds,
    endSeconds: end,
  }
  loopback.expect(new ExpectedBytes([]))
  const place = isFirst
    ? { offset: 0, seconds: null }
    : await placeOf(search, read, pids, share.beginSeconds - runInSeconds)
  if (place === null) return null
  const last = end === null ? size - 1 : (await search.placeBefore(end + RUN_OUT_SECONDS)).offset
  const first = Math.max(0, place.offset - SEARCH_SPREAD_BYTES)
  loopback.expect(last > first ? new ExpectedBytes([{ first, last }]) : null)
  const reads = new TransportReads([...pids, media.video?.id ?? []].flat())
  loopback.observe(reads.begin)
  return {
    share: { ...share, fromSeconds: place.seconds },
    isWhole: () => !reads.hasJump && reads.around(place.offset) !== null,
  }
}

/** The audio of `seconds` lies behind it. `seconds` of the place: its video's; null = the beginning. */
async function placeOf(
  search: TransportSearch,
  read: (first: number, count: number) => Promise<Uint8Array>,
  pids: readonly number[],
  seconds: number,
): Promise<{ offset: number; seconds: number | null } | null> {
  for (const earlier of EARLIER_SECONDS) {
    const place = await search.placeBefore(seconds - earlier)
    if (place.offset === 0) return { offset: 0, seconds: null }
    const first = await firstStamps(read, pids, place.offset)
    if (first !== null && first.every((ticks) => search.secondsOf(ticks) <= seconds)) return place
  }
  return null
}

/** The first time stamp of each stream behind a place; null = one has none near it. */
async function firstStamps(
  read: (first: number, count: number) => Promise<Uint8Array>,
  pids: readonly number[],
  from: number,
): Promise<number[] | null> {
  const packets = new PacketReader()
  const found = new Map<number, number>()
  for (let block = 0; block < MOST_BLOCKS; block += 1) {
    const bytes = await read(from + block * BLOCK_BYTES, BLOCK_BYTES)
    for (const packet of packets.push(bytes)) {
      const pid = pidOf(packet)
      if (!pids.includes(pid) || found.has(pid) || !isPayloadStart(packet)) continue
      const stamps = readPesTimestamps(payloadOf(packet))
      if (stamps !== null) found.set(pid, stamps.pts)
    }
    if (found.size === new Set(pids).size) return [...found.values()]
    if (bytes.length < BLOCK_BYTES) return null
  }
  return null
}
