// In charge of: one run that measures loudness. If the channels or the sample rate of the audio change midway, it is
// measured again, decoded by a process of its own: a meter that begins again forgets what it has heard.
// Not in charge of: the arguments (ebur128.ts), what is measured (measureLoudness.ts).
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegPrograms, type FfmpegResult, type RunOptions } from '../../ffmpeg/run.ts'
import { FormatChangeWatch, STEADY_PIPE, SteadyFeed } from '../steadyFeed.ts'
import { distinctTracks, steadyArgs, steadyInput, steadyMix, steadyPad } from '../../plan/argv/steadyAudio.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import { isDiagnostic } from '../damage/ffmpegMessages.ts'
import { ebur128Args, type MeasuredBranch, type Measuring, type SourceReading } from './ebur128.ts'

/** `media`: null = the audio comes from a pipe, where it does not change. */
export async function runEbur128(
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
