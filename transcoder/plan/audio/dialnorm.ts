// In charge of: the dialogue level that an AC-3 output states.
// Not in charge of: reading the source's level (transcoder/formats/ac3.ts), the gain itself (filters.ts).
import { audioCodecs } from '#contract/codecs.ts'
import type { AudioProfile } from '#contract/job/jobSpec.ts'
import type { AudioStream } from '../model/mediaInfo.ts'
import type { PlanContext } from '../planContext.ts'

const QUIETEST = 31
const LOUDEST = 1

/**
 * 1 to 31 for ac3, null for codecs without this field. 2.2 dolby_digital_dialnorm: 0 = passthrough, so audio that was
 * made n dB louder has dialogue n dB higher. `gainDb` is −Infinity for silence, which has no dialogue. After loudness
 * normalisation the dialogue level is the target loudness.
 */
export function planDialnorm(
  context: PlanContext,
  profile: AudioProfile,
  stream: AudioStream,
  { gainDb, normalisedLufs }: { gainDb: number; normalisedLufs: number | null },
): number | null {
  if (!audioCodecs[profile.codec].hasDialnorm) return null
  if (profile.dialnorm > 0) return profile.dialnorm
  const field = `audioProfiles[${profile.index}].dolby_digital_dialnorm`
  if (normalisedLufs !== null) {
    const wanted = Math.round(-normalisedLufs)
    const nearest = Math.min(QUIETEST, Math.max(LOUDEST, wanted))
    if (nearest !== wanted)
      context.warn({
        code: 'dialnorm_clamped',
        field,
        message: `A loudness of ${normalisedLufs} LUFS is a dialogue level of ${wanted}; ${nearest} is used, the nearest that AC-3 can state.`,
      })
    return nearest
  }
  if (stream.dialnorm === null) {
    context.warn({
      code: 'dialnorm_not_in_source',
      field,
      message: `Audio stream ${stream.number} of the source (${stream.codec}) states no dialogue level; 31 (−31 dB, no attenuation) is used.`,
    })
    return QUIETEST
  }
  if (gainDb === 0 || !Number.isFinite(gainDb)) return stream.dialnorm
  const shifted = Math.round(stream.dialnorm - gainDb)
  const level = Math.min(QUIETEST, Math.max(LOUDEST, shifted))
  context.warn(
    level === shifted
      ? {
          code: 'dialnorm_shifted',
          field,
          message: `The source’s dialogue level ${stream.dialnorm} becomes ${level}, because the volume changes by ${gainDb.toFixed(1)} dB.`,
        }
      : {
          code: 'dialnorm_clamped',
          field,
          message: `The source’s dialogue level ${stream.dialnorm} would become ${shifted} with a volume change of ${gainDb.toFixed(1)} dB; ${level} is used, the nearest that AC-3 can state.`,
        },
  )
  return level
}
