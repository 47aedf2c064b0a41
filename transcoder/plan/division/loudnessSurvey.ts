// In charge of: the loudness of a divided job's audio, where parts measure it before the job is divided into chunks: what
// is measured, by which part, and the gains in the plan.
// Not in charge of: measuring (analysis/loudness/), adding up (audio/loudnessLevels.ts), the gain (audio/loudnessGain.ts).
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { isSameMix, limiterGains, loudnessMeasurements, planLoudness } from '../audio/loudnessGain.ts'
import { integratedLufs, joinLevels, type LoudnessLevels } from '../audio/loudnessLevels.ts'
import type { ChannelMix } from '../model/channelMix.ts'
import type { MeasuredLoudness, MediaInfo } from '../model/mediaInfo.ts'
import type { AudioPlan, Plan } from '../model/plan.ts'
import { readingSeconds } from './surveyPlan.ts'

export interface SurveyedMix {
  stream: number
  mix: ChannelMix
}

/** In seconds from the beginning of what the job uses, in whole tenths; null = to its end. */
export interface LoudnessShare {
  startSeconds: number
  endSeconds: number | null
}

/** What the parts of a round found of one mix, or of one gain; null = one of them could not measure it. */
type FoundLevels = readonly (LoudnessLevels | null | undefined)[]

/** CPU-seconds of a mix and second of the source, if peaks must be limited: then gains are tried, too. Measured in stereo. */
const MEASURING_SECONDS = 0.04
/** The source is read in each of them. */
const ROUNDS = 2

/** Seconds for which one transcoder would measure. `bytes`: of the source; null = unknown. */
export function loudnessSeconds(plan: Plan, bytes: number | null): number {
  const mixes = surveyedMixes(plan).length
  if (mixes === 0) return 0
  return mixes * (plan.durationSeconds ?? 0) * MEASURING_SECONDS + ROUNDS * readingSeconds(bytes)
}

/** For a plan whose gains are found later: as if the audio had the requested loudness. */
export function withExpectedLoudness(spec: JobSpec, media: MediaInfo): MediaInfo {
  const mixes = loudnessMeasurements(spec, media)
  const reading = { integratedLufs: spec.loudnessLufs, truePeakDb: null, limited: [] }
  return withReadings(
    media,
    mixes,
    mixes.map(({ mix }) => ({ ...reading, mix })),
  )
}

/** `readings`: of the mixes, in their order. */
export function withReadings(
  media: MediaInfo,
  mixes: readonly SurveyedMix[],
  readings: readonly (MeasuredLoudness | null)[],
): MediaInfo {
  return {
    ...media,
    audio: media.audio.map((audio) => ({
      ...audio,
      loudness: mixes.flatMap(({ stream }, index) => (stream === audio.number ? (readings[index] ?? []) : [])),
    })),
  }
}

/** Each once, in an order that follows from the plan. */
export function surveyedMixes(plan: Plan): SurveyedMix[] {
  const found: SurveyedMix[] = []
  mapAudio(plan, (audio) => {
    const { sourceStream: stream, mix } = audio
    if (isSurveyed(audio) && mix !== undefined && !found.some((each) => isSame(each, { stream, mix })))
      found.push({ stream, mix })
    return audio
  })
  return found
}

/** Blocks of all parts lie on one grid. */
export function loudnessShare(plan: Plan, part: number, parts: number): LoudnessShare {
  const at = (index: number) => Math.round((10 * index * (plan.durationSeconds ?? 0)) / parts) / 10
  return { startSeconds: at(part), endSeconds: part + 1 === parts ? null : at(part + 1) }
}

/** The reading of each mix; null = it could not be measured. `levels`: of each part of the first round, by mix. */
export function joinReadings(
  mixes: readonly SurveyedMix[],
  levels: readonly FoundLevels[],
): (MeasuredLoudness | null)[] {
  return mixes.map(({ mix }, index) => {
    const whole = joinFound(levels, index)
    return whole && { mix, integratedLufs: integratedLufs(whole), truePeakDb: whole.truePeakDb, limited: [] }
  })
}

/** Gains to be tried with the limiter, for each mix; null = none has peaks that need it. */
export function gainsToTry(spec: JobSpec, readings: readonly (MeasuredLoudness | null)[]): number[][] | null {
  const { loudnessLufs: target } = spec
  const tries = readings.map((reading) => (reading === null || target === null ? [] : limiterGains(reading, target)))
  return tries.some(({ length }) => length > 0) ? tries : null
}

/** `levels`: of each part of the second round, by the tries of all mixes in their order. */
export function withTries(
  readings: readonly (MeasuredLoudness | null)[],
  tries: readonly (readonly number[])[],
  levels: readonly FoundLevels[],
): (MeasuredLoudness | null)[] {
  let branch = 0
  return readings.map((reading, index) => {
    const limited = (tries[index] ?? []).flatMap((gainDb) => {
      const whole = joinFound(levels, branch++)
      const lufs = whole && integratedLufs(whole)
      return lufs === null ? [] : [{ gainDb, integratedLufs: lufs }]
    })
    return reading && { ...reading, limited }
  })
}

/** The plan with the gains that follow, and their warnings. `readings`: of `surveyedMixes`. */
export function withGains(spec: JobSpec, plan: Plan, readings: readonly (MeasuredLoudness | null)[]): Plan {
  const mixes = surveyedMixes(plan)
  const warnings: Warning[] = []
  const context = { spec, warn: (...more: readonly Warning[]) => void warnings.push(...more) }
  const measured = mapAudio(plan, (audio) => {
    const { sourceStream, mix } = audio
    if (!isSurveyed(audio) || mix === undefined) return audio
    const index = mixes.findIndex((each) => isSame(each, { stream: sourceStream, mix }))
    const stream = { number: sourceStream, loudness: [readings[index] ?? []].flat() }
    return { ...audio, loudness: planLoudness(context, { stream, mix }) }
  })
  return { ...measured, warnings: mergeWarnings(plan.warnings, warnings) }
}

function joinFound(levels: readonly FoundLevels[], index: number): LoudnessLevels | null {
  const found = levels.flatMap((each) => each[index] ?? [])
  return found.length < levels.length ? null : joinLevels(found)
}

function isSurveyed({ loudness, copied }: AudioPlan): boolean {
  return loudness !== null && copied == null
}

function isSame(one: SurveyedMix, other: SurveyedMix): boolean {
  return one.stream === other.stream && isSameMix(one.mix, other.mix)
}

function mapAudio(plan: Plan, change: (audio: AudioPlan) => AudioPlan): Plan {
  const { outputs, audioFiles, packaging } = plan
  return {
    ...plan,
    outputs: outputs.map((output) => ({ ...output, audio: output.audio.map(change) })),
    audioFiles: audioFiles.map((file) => ({ ...file, audio: change(file.audio) })),
    packaging:
      packaging === null
        ? null
        : {
            ...packaging,
            renditions: packaging.renditions.map((rendition) => ({ ...rendition, audio: rendition.audio.map(change) })),
          },
  }
}
