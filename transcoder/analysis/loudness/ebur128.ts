// In charge of: the arguments of ffmpeg that measure loudness (EBU R 128), and what its filter says.
// Not in charge of: what is measured (analysis/measureLoudness.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { audioCutFilters, type CutReading } from '../../plan/argv/cutArgs.ts'
import { burstInputs } from '../../plan/argv/burstInputs.ts'
import { limiter, mixedFilters, panFilter } from '../../plan/argv/filters.ts'
import { isJoined, joinChains } from '../../plan/argv/audioSources.ts'
import { buildSharedGraph } from '../../plan/argv/filterGraph.ts'
import { TRUE_PEAK_CEILING_DB } from '../../plan/audio/loudnessGain.ts'
import { isDolbyDigital } from '../../plan/codecs.ts'
import type { ChannelMix } from '#contract/task/plan/audioPlan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../../plan/streams/audioStreamCount.ts'

const SAMPLE_RATE = 48_000
/** Blocks below it do not count (ITU-R BS.1770). */
const ABSOLUTE_GATE_LUFS = -70

export interface MeasuredBranch {
  stream: number
  mix: ChannelMix
  /** null = without gain. */
  gainDb: number | null
}

/** The inputs' arguments, and the part of it that is measured. */
export interface SourceReading {
  input: readonly string[]
  part: CutReading
}

export interface LoudnessReading {
  integratedLufs: number | null
  truePeakDb: number | null
}

export interface Measuring {
  /** ffmpeg's name of what is measured. */
  pad: (branch: MeasuredBranch) => string
  /** The channels are mixed already; missing = they are the channels of the source. */
  isMixed?: boolean
  threads: number
}

/** The arguments of a source that is read from its address. */
export function loudnessInput(
  url: string,
  { spec, media }: { spec: JobSpec; media: MediaInfo },
  streams: readonly number[],
  { seek }: CutReading,
  seekable: boolean,
): string[] {
  const compressed = media.audio.some((audio) => streams.includes(audio.number) && isDolbyDigital(audio))
  return [
    ...inputFlags(url),
    // As in the encode: without it, the measured level would differ from the level of the outputs.
    ...(compressed ? ['-drc_scale', '0'] : []),
    ...(needsDeepProbe(spec, media) ? DEEP_PROBE_FLAGS : []),
    ...(seek ?? []),
    '-i',
    url,
    ...burstInputs(
      media.audio.flatMap(({ bursts }) => (bursts === undefined ? [] : `file:${bursts.file}`)),
      { cut: measuredCut(media) },
      seekable,
    ),
  ]
}

/** Loudness is measured in samples, whatever the frames. */
export function measuredCut({ cut }: MediaInfo): CutPlan | null {
  return cut === undefined ? null : { ...cut, frames: null, movesClock: false }
}

/** The filter of a branch has the name `m` and the number of the branch. */
export function ebur128Args(
  { input, part }: SourceReading,
  branches: readonly MeasuredBranch[],
  measuring: Measuring,
): string[] {
  const { pad, threads } = measuring
  const isApart = ({ stream, mix }: MeasuredBranch) => measuring.isMixed !== true && isJoined({ stream, mix })
  const joined = branches.flatMap((branch, index) =>
    isApart(branch)
      ? joinChains(branch.mix, `j${index}`, { pad: (stream) => pad({ ...branch, stream }), sampleRate: SAMPLE_RATE })
      : [],
  )
  const named = branches.map((branch, index) => ({
    pad: isApart(branch) ? `j${index}` : pad(branch),
    label: `o${index}`,
    filters: filters(branch, part, `m${index}`, measuring),
  }))
  const graph = [
    ...joined,
    ...[...Map.groupBy(named, (branch) => branch.pad)].flatMap(([name, own]) =>
      buildSharedGraph(`[${name}]`, own, 'asplit'),
    ),
  ]
  return [
    // ebur128 prints its summary at the level info; a change of format is seen at this one (FormatChangeWatch).
    ...['-nostdin', '-hide_banner', '-loglevel', 'level+verbose', '-nostats', '-progress', 'pipe:1'],
    ...(threads > 0 ? ['-threads', `${threads}`, '-filter_complex_threads', `${threads}`] : []),
    ...input,
    ...['-filter_complex', graph.join(';')],
    ...branches.flatMap((_branch, index) => ['-map', `[o${index}]`]),
    ...['-f', 'null', '-'],
  ]
}

function filters(
  { mix: gains, gainDb }: MeasuredBranch,
  { cut }: CutReading,
  name: string,
  { isMixed = false }: Measuring,
): string[] {
  const [aligned, ...mixed] = (isMixed ? mixedFilters : panFilter)(SAMPLE_RATE, gains, 'back')
  return [
    aligned,
    ...audioCutFilters(cut, SAMPLE_RATE),
    ...mixed,
    ...(gainDb === null ? [] : limiter(gainDb, TRUE_PEAK_CEILING_DB, SAMPLE_RATE)),
    // verbose: at the default level it prints a line every 0.1 s. Peaks matter only before a limiter.
    `ebur128@${name}=framelog=verbose${gainDb === null ? ':peak=true' : ''}`,
  ]
}

/**
 * Parses the summary of the filter of that name; it prints −70 LUFS if nothing is above the absolute gate. null = no
 * summary.
 */
export function parseEbur128(log: string, name: string): LoudnessReading | null {
  const said = log.split(/\n(?=\[)/).filter((message) => message.startsWith(`[ebur128@${name} @`))
  const at = said.findLastIndex((message) => message.includes('] Summary:'))
  if (at < 0) return null
  // In two messages: ffmpeg 7 puts what another thread says between them, and names the filter again.
  const text = said.slice(at).join('\n')
  const integrated = Number(/\bI: +(-?[\d.]+|-?inf|nan) LUFS/.exec(text)?.[1] ?? Number.NaN)
  const peak = Number(/\bPeak: +(-?[\d.]+|-?inf|nan) dBFS/.exec(text)?.[1] ?? Number.NaN)
  return {
    integratedLufs: Number.isFinite(integrated) && integrated > ABSOLUTE_GATE_LUFS ? integrated : null,
    truePeakDb: Number.isFinite(peak) ? peak : null,
  }
}
