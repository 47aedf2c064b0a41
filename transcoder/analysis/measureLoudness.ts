// In charge of: measuring the loudness (EBU R 128) of a source's audio as it is mixed for the outputs. Only for jobs
// with a target loudness.
// Not in charge of: the resulting gain (plan/audio/loudnessGain.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import {
  type FfmpegPrograms,
  type PipeFeed,
  FIRST_PIPE_FD,
  runFfmpeg,
  type FfmpegResult,
  type RunOptions,
} from '../ffmpeg/run.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { limiterGains, loudnessMeasurements } from '../plan/audio/loudnessGain.ts'
import { mixedStreams } from '../plan/model/channelMix.ts'
import type { MeasuredLoudness, MediaInfo } from '../plan/model/mediaInfo.ts'
import { audioSpecifier, usedPids } from '../plan/streams/programSelection.ts'
import {
  loudnessInput,
  measuredCut,
  parseEbur128,
  type LoudnessReading,
  type MeasuredBranch,
  type SourceReading,
  ebur128Args,
  type Measuring,
} from './loudness/ebur128.ts'
import { FormatChangeWatch, STEADY_PIPE, SteadyFeed } from './steadyFeed.ts'
import { distinctTracks, steadyArgs, steadyInput, steadyMix, steadyPad } from '../plan/argv/steadyAudio.ts'
import { isDiagnostic } from './damage/ffmpegMessages.ts'

/** `media`: null = the audio comes from a pipe, where it does not change. */
async function runEbur128(
  engine: FfmpegPrograms,
  reading: SourceReading,
  branches: readonly MeasuredBranch[],
  { measuring, media }: { measuring: Measuring; media: MediaInfo | null },
  options: RunOptions,
): Promise<FfmpegResult> {
  const { onLine, signal } = options
  const change = new AbortController()
  const watch = new FormatChangeWatch(media?.audio ?? [])
  // Lines of the level verbose would displace the summary.
  const keeps = (line: string) => !line.includes('[verbose]') && (onLine?.(line) ?? true)
  const run = { ...options, purpose: 'measure loudness', onLine: keeps }
  const result = await runFfmpeg(engine, ebur128Args(reading, branches, measuring), {
    ...run,
    signal: AbortSignal.any([...(signal === undefined ? [] : [signal]), change.signal]),
    onLine: (line) => {
      if (watch.isChange(line)) change.abort()
      return keeps(line)
    },
  })
  if (media === null || !change.signal.aborted || signal?.aborted === true) return result
  const channelsOf = (stream: number) => media.audio.find(({ number }) => number === stream)?.channels ?? 0
  const trackOf = ({ stream, mix }: MeasuredBranch) => ({
    stream,
    sampleRate: 48_000,
    mix: steadyMix(mix, channelsOf(stream)),
    surrounds: 'back' as const,
  })
  const tracks = distinctTracks(branches.map(trackOf))
  const { pad, threads } = measuring
  const padOfStream = (stream: number) => pad({ ...branches[0]!, stream })
  const args = steadyArgs(tracks, { input: reading.input, pad: padOfStream, others: [], threads }, STEADY_PIPE)
  const feed = new SteadyFeed(engine, args, {
    cwd: options.cwd,
    onLine: isDiagnostic,
    requireEnd: ({ ended, code }) => {
      if (ended !== 'exit' || code !== 0) throw new Error(`the audio could not be decoded (${ended}, code ${code})`)
    },
  })
  const steady = { input: steadyInput(`pipe:${FIRST_PIPE_FD}`), part: reading.part }
  const steadily = {
    ...measuring,
    isMixed: true,
    pad: (branch: MeasuredBranch) => steadyPad(tracks, trackOf(branch), 0),
  }
  return runFfmpeg(engine, ebur128Args(steady, branches, steadily), {
    ...run,
    pipeFeed: feed.pipeFeed(),
    isBlocked: () => feed.isStarving,
  })
}

/** The audio of a joined source, which is written to pipes. */
export interface JoinedAudioInput {
  /** All arguments of the inputs. */
  input: readonly string[]
  /** ffmpeg's name of a stream. */
  pad: (stream: number) => string
  pipeFeed: PipeFeed
  isBlocked: () => boolean
}

interface Options {
  /** Missing = the source is read from its address. */
  joined?: JoinedAudioInput
  signal?: AbortSignal
  cwd: string
  threads?: number
  /** The source can be read at any position. */
  seekable?: boolean
}

/**
 * Adds `loudness` to the audio streams that need it. Reads the source once more, and a second time if peaks must be
 * limited, since the effect of a limiter is only known by trying. Values that could not be measured stay unknown.
 */
export async function measureLoudness(
  engine: FfmpegPrograms,
  url: string,
  { spec, media }: { spec: JobSpec; media: MediaInfo },
  options: Options,
): Promise<MediaInfo> {
  const target = spec.loudnessLufs
  const wanted = loudnessMeasurements(spec, media).map((measurement): MeasuredBranch => ({
    ...measurement,
    gainDb: null,
  }))
  if (target === null || wanted.length === 0) return media
  const seekable = options.seekable === true
  const part = readCut({ cut: measuredCut(media) }, seekable)
  const streams = wanted.flatMap(({ stream, mix }) => mixedStreams({ sourceStream: stream, mix }))
  const input = options.joined?.input ?? loudnessInput(url, { spec, media }, streams, part, seekable)
  const levels = await readLevels(engine, { input, part }, wanted, media, options)
  const measurements = wanted.flatMap(({ stream, mix }, index) => {
    const level = levels[index]
    return level === undefined || level === null ? [] : [{ stream, mix, ...level, limited: [] }]
  })
  const tries = measurements.flatMap(({ stream, ...measurement }) =>
    limiterGains(measurement, target).map((gainDb) => ({ stream, mix: measurement.mix, gainDb })),
  )
  const tried = tries.length === 0 ? [] : await readLevels(engine, { input, part }, tries, media, options)
  return {
    ...media,
    audio: media.audio.map((audio) => ({
      ...audio,
      loudness: measurements
        .filter(({ stream }) => stream === audio.number)
        .map(({ stream, ...measurement }): MeasuredLoudness => ({
          ...measurement,
          limited: tries.flatMap((attempt, index) => {
            const integratedLufs = tried[index]?.integratedLufs ?? null
            const same = attempt.stream === stream && attempt.mix === measurement.mix
            return same && integratedLufs !== null ? [{ gainDb: attempt.gainDb, integratedLufs }] : []
          }),
        })),
    })),
  }
}

/** One reading for each branch, in order; null if ffmpeg printed none. */
async function readLevels(
  engine: FfmpegPrograms,
  reading: SourceReading,
  branches: readonly MeasuredBranch[],
  media: MediaInfo,
  { threads = 0, seekable: _seekable, joined, ...run }: Options,
): Promise<(LoudnessReading | null)[]> {
  const padOf = joined?.pad ?? ((stream: number) => audioSpecifier(usedPids(media), stream))
  const measuring = { pad: ({ stream }: MeasuredBranch) => padOf(stream), threads }
  const about = { measuring, media: joined === undefined ? media : null }
  const result = await runEbur128(engine, reading, branches, about, {
    ...run,
    ...(joined === undefined ? {} : { pipeFeed: joined.pipeFeed, isBlocked: joined.isBlocked }),
  })
  run.signal?.throwIfAborted()
  return branches.map((_branch, index) => (result.ended === 'exit' ? parseEbur128(result.stderr, `m${index}`) : null))
}
