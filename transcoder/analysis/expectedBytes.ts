// In charge of: the bytes that a part of a divided job will read, from the index of an mp4 or QuickTime source: a chunk up to
// its last frame, and the rest the audio alone.
// Not in charge of: reading them, and no more than them (source/expectedBytes.ts).
import { FormatError } from '../formats/formatError.ts'
import { readTrackPlaces, type TrackPlaces } from '../formats/mp4/trackPlaces.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { secondsBeforePart, secondsOfPart } from '../plan/model/partFrames.ts'
import type { Plan } from '../plan/model/plan.ts'
import { ExpectedBytes } from '../source/expectedBytes.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import type { ByteRange } from '../source/rangeResponse.ts'
import { MAX_FRAMES } from './nalUnitTypes.ts'
import { readIndex } from './surveyIndex.ts'

/** Before a chunk: at least the run-in of its filters and decoders, and the reordering of frames (argv/chunkArgs.ts). */
const RUN_IN_SECONDS = 4
/** Frames that a decoder holds back, and the next frame, which says how long the last one is shown. */
const RUN_OUT_SECONDS = 0.5
/** Audio is decoded from before a cut on. */
const AUDIO_RUN_IN_SECONDS = 5
const AUDIO_RUN_OUT_SECONDS = 2
/**
 * Gaps that are read, not skipped: a request costs more. With fewer bytes ffmpeg reads on instead of opening a connection
 * (ffmpeg/inputAllowlist.ts).
 */
const READ_GAP_BYTES = 64 * 1024
/** Where audio and video alternate frame by frame, skipping saves nothing. */
const WORTHWHILE_SHARE = 0.7
const AUDIO_HANDLER = 'soun'
/** Text tracks lie among the audio. */
const SKIPPED_HANDLERS = new Set(['vide', 'tmcd', 'auxv', 'pict'])

interface Part {
  plan: Plan
  media: MediaInfo
  /** The time in the source at which the outputs begin. */
  startSeconds: number
}

/** Tells the readers of the source what to expect; they are told nothing where no index says it. */
export async function expectPart(
  loopback: Pick<LoopbackServer, 'open' | 'readRange' | 'expect'>,
  part: Part,
  signal: AbortSignal,
): Promise<void> {
  if (part.plan.part === undefined) return
  const isChunk = part.plan.part.kind === 'chunk'
  const { size } = await loopback.open()
  const tracks = await readTracks(loopback, part.media, signal)
  const ranges = tracks === null || size === null ? null : isChunk ? ofChunk(tracks, part) : ofRest(tracks, part, size)
  loopback.expect(ranges === null ? null : new ExpectedBytes(ranges), { inBlocks: !isChunk })
}

/** The rest reads nothing but audio and text. */
export function skipsVideo({ part, packaging, extracts }: Plan): boolean {
  return part?.kind === 'rest' && packaging?.textTracks !== true && packaging?.thumbnails == null && extracts == null
}

async function readTracks(
  loopback: Pick<LoopbackServer, 'open' | 'readRange'>,
  { formats }: MediaInfo,
  signal: AbortSignal,
): Promise<TrackPlaces[] | null> {
  const { size, ranges } = await loopback.open()
  if (!formats.includes('mov') || !ranges || size === null) return null
  try {
    const index = await readIndex(loopback, size, signal)
    return index === null ? null : readTrackPlaces(index, MAX_FRAMES)
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return null
    throw error
  }
}

function ofChunk(tracks: readonly TrackPlaces[], { plan, startSeconds }: Part): ByteRange[] | null {
  const seconds = secondsOfPart(plan)
  const videos = tracks.filter(({ handler }) => handler === 'vide')
  if (seconds === null || videos.length !== 1) return null
  const begin = startSeconds + secondsBeforePart(plan)
  const until = begin + seconds + RUN_OUT_SECONDS
  const { samples, isKey } = videos[0]!
  // One key frame more than needed: nothing is read because it is expected.
  const from = begin - RUN_IN_SECONDS
  const start = samples.findLastIndex((sample, index) => isKey(index) && sample.seconds <= from)
  const wanted = samples.filter((sample, index) => index >= start && sample.seconds <= until)
  if (wanted.length === 0) return null
  return [
    {
      first: wanted.reduce((least, { first }) => Math.min(least, first), Infinity),
      last: wanted.reduce((most, { end }) => Math.max(most, end - 1), 0),
    },
  ]
}

function ofRest(tracks: readonly TrackPlaces[], { plan, media, startSeconds }: Part, size: number): ByteRange[] | null {
  if (!skipsVideo(plan)) return null
  const sounds = tracks.filter(({ handler }) => handler === AUDIO_HANDLER)
  // ffmpeg numbers the tracks in the order of the file.
  const isNumbered = sounds.length === media.audio.length
  const used = tracks.filter((track) => {
    if (track.handler !== AUDIO_HANDLER) return !SKIPPED_HANDLERS.has(track.handler)
    return !isNumbered || plan.sourceAudio.includes(media.audio[sounds.indexOf(track)]!.number)
  })
  const end = plan.cut?.endSeconds == null ? null : plan.cut.endSeconds - plan.cut.startSeconds
  const from = startSeconds - AUDIO_RUN_IN_SECONDS
  const until = end === null ? Infinity : startSeconds + end + AUDIO_RUN_OUT_SECONDS
  const places = used
    .flatMap(({ samples }) => samples.filter(({ seconds }) => seconds >= from && seconds <= until))
    .toSorted((a, b) => a.first - b.first)
  const ranges: ByteRange[] = []
  for (const { first, end: after } of places) {
    const before = ranges.at(-1)
    if (before !== undefined && first - before.last - 1 <= READ_GAP_BYTES)
      before.last = Math.max(before.last, after - 1)
    else ranges.push({ first, last: after - 1 })
  }
  const bytes = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  return bytes < size * WORTHWHILE_SHARE ? ranges : null
}
