// In charge of: loudness_lufs: the gain that brings measured audio to its target (ITU-R BS.1770, EBU R 128), and when
// peaks need a limiter.
// Not in charge of: measuring (transcoder/analysis/measureLoudness.ts), the filters (filters.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { carriedProfiles } from './carriedProfiles.ts'
import { planChannelMix } from './downmix.ts'
import { requestedAudio } from './sourceChannels.ts'
import type { AudioStream, MeasuredLoudness, MediaInfo } from '../model/mediaInfo.ts'
import type { ChannelMix, AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PlanContext } from '../planContext.ts'

/**
 * Highest true peak before the encoder, in dB. A lossy codec adds up to 2 dB to noise at usual rates, and the output
 * must stay below −1 dBTP.
 */
export const TRUE_PEAK_CEILING_DB = -3
/**
 * Gains above the linear one that are tried with the limiter, in dB. They make up for the loudness that the limiter
 * removes.
 */
const STEPS_DB = [0, 0.5, 1, 2, 4, 8]
/** A larger difference gives a warning. R 128 allows 0.5 LU for a programme and 1 LU live. */
const TOLERANCE_LU = 0.5

/** The streams to be measured, each once for every mix that is made of it. */
export function loudnessMeasurements(spec: JobSpec, media: MediaInfo): { stream: number; mix: ChannelMix }[] {
  if (spec.loudnessLufs === null) return []
  const wanted = carriedProfiles(spec).flatMap((profile) => {
    const stream = requestedAudio(profile, media.audio)
    if (stream === null) return []
    return [{ stream: stream.number, mix: planChannelMix(profile, stream).value }]
  })
  return wanted.filter(
    (measurement, index) =>
      wanted.findIndex((other) => other.stream === measurement.stream && isSameMix(other.mix, measurement.mix)) ===
      index,
  )
}

export function isSameMix(one: ChannelMix, other: ChannelMix): boolean {
  return JSON.stringify([one.from, one.gains]) === JSON.stringify([other.from, other.gains])
}

/** Gains in dB to be tried with the limiter, ascending. None where the peaks fit without it. */
export function limiterGains(reading: MeasuredLoudness, targetLufs: number): number[] {
  const gain = linearGain(reading, targetLufs)
  if (gain === null || (reading.truePeakDb ?? -Infinity) + gain <= TRUE_PEAK_CEILING_DB) return []
  return STEPS_DB.map((step) => rounded(gain + step))
}

function linearGain({ integratedLufs }: MeasuredLoudness, targetLufs: number): number | null {
  return integratedLufs === null ? null : rounded(targetLufs - integratedLufs)
}

/** null: the job sets no target, or the audio is silent, which gives a warning. */
export function planLoudness(
  context: Pick<PlanContext, 'spec' | 'warn'>,
  { stream, mix }: { stream: Pick<AudioStream, 'number' | 'loudness'>; mix: ChannelMix },
): AudioPlan['loudness'] {
  const target = context.spec.loudnessLufs
  if (target === null) return null
  const field = 'loudness_lufs'
  const reading = stream.loudness.find((measured) => isSameMix(measured.mix, mix))
  if (reading === undefined) {
    const message = `The loudness of audio stream ${stream.number} of the source could not be measured; it is left as it is.`
    context.warn({ code: 'loudness_not_measured', field, message })
    return null
  }
  const gainDb = linearGain(reading, target)
  if (gainDb === null) {
    const message = `Audio stream ${stream.number} of the source is silent, or shorter than 0.4 s: it has no loudness and is left as it is.`
    context.warn({ code: 'loudness_of_silence', field, message })
    return null
  }
  if (limiterGains(reading, target).length === 0) return { gainDb, limited: false }
  const { gainDb: made, reachedLufs } = limitedGain(reading, target, gainDb)
  const missed = Math.abs(reachedLufs - target) > TOLERANCE_LU
  context.warn({
    code: missed ? 'loudness_not_reached' : 'loudness_limited',
    field,
    message: missed
      ? `Audio stream ${stream.number} of the source can only be brought to about ${reachedLufs.toFixed(1)} LUFS, not ${target}: its peaks are at the limit of −1 dBTP already.`
      : `Peaks of audio stream ${stream.number} of the source are limited, so that it reaches ${target} LUFS below −1 dBTP.`,
  })
  return { gainDb: made, limited: true }
}

/**
 * The gain that reaches the target after the limiter, interpolated between the measured ones. Loudness grows ever more
 * slowly with gain.
 */
function limitedGain(
  { limited }: MeasuredLoudness,
  target: number,
  otherwise: number,
): { gainDb: number; reachedLufs: number } {
  const tries = limited.toSorted((a, b) => a.gainDb - b.gainDb)
  const above = tries.findIndex(({ integratedLufs }) => integratedLufs >= target)
  const [low, high] = [tries[above - 1], tries[above]]
  const last = tries.at(-1)
  if (last === undefined) return { gainDb: otherwise, reachedLufs: target }
  if (high === undefined) return { gainDb: last.gainDb, reachedLufs: last.integratedLufs }
  if (low === undefined) return { gainDb: high.gainDb, reachedLufs: high.integratedLufs }
  const share = (target - low.integratedLufs) / (high.integratedLufs - low.integratedLufs)
  return { gainDb: rounded(low.gainDb + share * (high.gainDb - low.gainDb)), reachedLufs: target }
}

/** ebur128 reports tenths, so further digits of the plan mean nothing. */
function rounded(db: number): number {
  return Math.round(db * 100) / 100
}
