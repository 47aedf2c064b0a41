// In charge of: the process that decodes audio whose channels or sample rate change midway, and the input with which
// another process reads it. ffmpeg makes the filters of a stream anew at each change: all that counts from the beginning
// (first_pts, samples, silence, loudness) would begin again, and what filters hold back would be lost. These filters keep
// nothing, so what they make goes on: one layout, one sample rate, the times of the source.
// Not in charge of: running the process (analysis/steadyFeed.ts), noticing a change (analysis/damage/damageMonitor.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { ChannelMix } from '#contract/task/plan/audioPlan.ts'
import { mixFilters } from './filters.ts'

/** One mix of one stream. */
export interface SteadyTrack {
  stream: number
  sampleRate: number
  mix: ChannelMix
  surrounds: 'side' | 'back'
}

/** What the process reads: the same input as the one that makes the outputs, so that both have the same clock. */
export interface SteadyReading {
  /** All arguments of the input. */
  input: readonly string[]
  /** ffmpeg's name of a stream. */
  pad: (stream: number) => string
  /** Names of further streams that the other process uses. They are read and dropped: the clock depends on them. */
  others: readonly string[]
  threads: number
}

/** NUT and Matroska have no negative times, and audio may begin before the outputs do. */
export const CLOCK_SECONDS = 3600

/**
 * The first MPEG audio frame of another sample rate has the rate of the frames before it, and ffmpeg 5 gives it a time
 * that is wrong by the ratio of both (up to an hour after 10 h): it follows the frame before.
 */
const WELL_STAMPED = `asetpts='st(0,PREV_OUTPTS+S);if(gt(N,0)*gt(abs(PTS-ld(0)),SR/10)*(${[48_000, 44_100, 32_000]
  .map((rate) => `lt(abs(PTS-ld(0)*${rate}/SR),SR/100)`)
  .join('+')}),ld(0),PTS)'`

/** Each once. */
export function distinctTracks(tracks: readonly SteadyTrack[]): SteadyTrack[] {
  return [...new Map(tracks.map((track) => [JSON.stringify(track), track])).values()]
}

/** ffmpeg's name of a track that is read from the `input`th input. */
export function steadyPad(tracks: readonly SteadyTrack[], wanted: SteadyTrack, input: number): string {
  const name = JSON.stringify(wanted)
  return `${input}:a:${tracks.findIndex((track) => JSON.stringify(track) === name)}`
}

export function steadyArgs(
  tracks: readonly SteadyTrack[],
  { input, pad, others, threads }: SteadyReading,
  pipe: string,
): string[] {
  const labels = tracks.map((_track, index) => `[t${index}]`)
  const graphs = [...new Set(tracks.map(({ stream }) => stream))].map((stream) => {
    const own = tracks.flatMap((track, index) => (track.stream === stream ? [{ track, index }] : []))
    const branches = own.map(({ index }) => `[b${index}]`)
    return [
      // Its lines say when which format begins (readFormat).
      `[${pad(stream)}]ashowinfo@f${stream},${WELL_STAMPED},asplit=${own.length}${branches.join('')}`,
      ...own.map(({ track, index }) => `[b${index}]${steadyFilters(track).join(',')}${labels[index]}`),
    ].join(';')
  })
  return [
    ...['-nostdin', '-hide_banner', '-y'],
    ...['-loglevel', 'repeat+level+verbose', '-nostats', '-progress', 'pipe:1', '-stats_period', '0.5'],
    ...(threads > 0 ? ['-threads', `${threads}`, '-filter_complex_threads', `${threads}`] : []),
    ...input,
    ...graphs.flatMap((graph) => ['-filter_complex', graph]),
    ...labels.flatMap((label) => ['-map', label]),
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-c:a', 'pcm_f32le'],
    // Without an index, which would grow in memory.
    ...['-write_index', '0', '-output_ts_offset', `${CLOCK_SECONDS}`, '-f', 'nut', pipe],
    ...others.flatMap((name) => ['-map', name, '-c', 'copy', '-f', 'null', '-']),
  ]
}

/** -seek_timestamp: the times in the pipe are kept; otherwise the first sample would be moved to 0. */
export function steadyInput(pipe: string): string[] {
  return [
    ...['-protocol_whitelist', 'pipe', '-format_whitelist', 'nut', '-codec_whitelist', 'pcm_f32le'],
    ...['-seek_timestamp', '1', '-itsoffset', `-${CLOCK_SECONDS}`, '-f', 'nut', '-i', pipe],
  ]
}

/** The planned mix where the layout may be any of those that a broadcast switches to. `channels`: at the beginning. */
export function steadyMix({ gains, limited, from }: ChannelMix, channels: number): ChannelMix {
  // Named channels have one layout, whatever the stream's is.
  if (from !== undefined) return { from, gains, limited }
  const isStereo = Object.keys(gains).length === 2
  if (!isStereo) return { gains, limited }
  // A stream that begins in mono was planned with the centre at its own level (downmix.ts).
  const shares = (side: Record<string, number>) => (channels === 1 ? { ...side, FC: HALF_POWER } : side)
  return { gains: Object.fromEntries(Object.entries(gains).map(([name, side]) => [name, shares(side)])), limited: true }
}

const HALF_POWER = 0.707107

function steadyFilters({ sampleRate, mix, surrounds }: SteadyTrack): string[] {
  const centre = Object.keys(mix.gains).length === 2 ? (mix.gains['FL']?.['FC'] ?? 1) : 1
  return [
    `aresample=${sampleRate}`,
    'aformat=sample_fmts=fltp',
    // Mono is not a centre channel: it keeps its level in both sides. Evaluated once, when the filter is made.
    ...(centre === 1 ? [] : [`volume=if(eq(nb_channels\\,1)\\,${(1 / centre).toFixed(6)}\\,1)`]),
    ...mixFilters(mix, surrounds),
  ]
}
