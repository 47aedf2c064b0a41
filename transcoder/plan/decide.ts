// In charge of: turning a job and a probed source into a complete plan, or into the one reason why it cannot be done.
// Not in charge of: the wire (contract/job.ts), argv (argv.ts).
import { minimumBitrateKbps } from '#contract/bitrate.ts'
import type { Warning } from '#contract/errors.ts'
import { outputPath } from '#contract/outputs.ts'
import type { JobSpec, VideoProfile } from '#contract/spec.ts'
import { planAudio, warnSilentProfiles } from './audio.ts'
import { bufferModel, expectedSize, headerReserve, muxRate } from './budget.ts'
import { isUntouched, outputColor, readPicture } from './color.ts'
import { planGeometry, upright } from './geometry.ts'
import { planLogo } from './logo.ts'
import type { LogoImage, MediaInfo, Rational, VideoStream } from './media.ts'
import type { OutputPlan, Plan, SourcePicture, VideoPlan } from './plan.ts'
import { PlanError } from './problem.ts'
import { gopOf, outputRate, sourceRate } from './rate.ts'
import { sameRatio } from './rational.ts'
import { FILM_RATE, outputScan, sourceScan, type SourceScan } from './scan.ts'

/** What the encoder at hand can do (ffmpeg/locate.ts finds out). */
export interface EngineAbilities {
  zscale: boolean
  /** libx265 has `-a53cc`. */
  hevcCaptions: boolean
  /** Captions survive a change of the frame rate (ffmpeg 7 and later, at broadcast rates). */
  captionsAcrossRates: boolean
}
const everything: EngineAbilities = { zscale: true, hevcCaptions: true, captionsAcrossRates: true }

const contentTypes = { mp4: 'video/mp4', ts: 'video/mp2t' } as const
/** Larger differences are content that begins late: the first picture is held instead of moving the clock. */
const LARGEST_OFFSET_SECONDS = 0.5
/** Above 29.97 or 59.94 there is no caption cadence: CEA-608 pairs would be dropped or doubled. */
const captionRates: readonly Rational[] = [
  { num: 30000, den: 1001 },
  { num: 60000, den: 1001 },
]

/**
 * Decides everything about a task. `abilities` defaults to a complete engine.
 * Throws PlanError; what was changed or left out is in `warnings`.
 */
export function planJob(
  spec: JobSpec,
  media: MediaInfo,
  abilities: EngineAbilities = everything,
  logo: LogoImage | null = null,
): Plan {
  const { video } = media
  const container = spec.container
  if (container !== 'mp4' && container !== 'ts')
    throw new PlanError(
      'unsupported_combination',
      `output_container ${container} is not available yet; use mp4 or ts`,
      {
        field: 'output_container',
      },
    )
  if (video === null)
    throw new PlanError('no_video', 'The source has no video stream.', {
      details: { audio_streams: media.audio.length, other_streams: media.other.length },
    })

  const warnings: Warning[] = []
  const source = upright(video)
  const picture = readPicture(video, source)
  const scan = sourceScan(spec, video, warnings)
  const rate = scan.kind === 'telecined' ? FILM_RATE : sourceRate(spec, video, warnings)
  const videoOffsetSeconds = offset(media, video)
  const durationSeconds = duration(media, video, videoOffsetSeconds)
  warnSilentProfiles(spec, warnings)
  warnSource(media, picture, abilities, warnings)

  const outputs = spec.video.map((profile): OutputPlan => {
    const plan = planVideo(spec, profile, video, { picture, rate, scan, abilities, logo }, warnings)
    const audio = planAudio(spec, profile, media)
    const muxRateKbps = container === 'ts' && profile.mode === 'cbr' ? muxRate(plan.bitrateKbps, audio) : null
    const headerReserveBytes = container === 'mp4' ? headerReserve(durationSeconds, plan, audio) : null
    return {
      profile: profile.index,
      path: outputPath(spec, profile, plan.height),
      container,
      contentType: contentTypes[container],
      video: plan,
      audio,
      expectedBytes: expectedSize(durationSeconds, plan, audio, muxRateKbps, headerReserveBytes),
      headerReserveBytes,
      muxRateKbps,
    }
  })
  refuseSharedPaths(outputs)

  const sourceAudio = [
    ...new Set(outputs.flatMap((output) => output.audio.map((track) => track.sourceStream))),
  ].toSorted((a, b) => a - b)
  return {
    version: 1,
    durationSeconds,
    videoOffsetSeconds,
    sourceAudio,
    picture: abilities.zscale ? picture : { ...picture, conversion: 'none' },
    fields: scan.fields,
    scaler: abilities.zscale ? 'zscale' : 'scale',
    disableDrc: media.audio.some(
      (stream) => sourceAudio.includes(stream.number) && ['ac3', 'eac3'].includes(stream.codec),
    ),
    hevcCaptionsOption: abilities.hevcCaptions,
    outputs,
    warnings: unique(warnings),
  }
}

function planVideo(
  spec: JobSpec,
  profile: VideoProfile,
  video: VideoStream,
  found: {
    picture: SourcePicture
    rate: Rational
    scan: SourceScan
    abilities: EngineAbilities
    logo: LogoImage | null
  },
  warnings: Warning[],
): VideoPlan {
  const geometry = planGeometry(profile, spec, upright(video), warnings)
  // 2.1 video_bitrate: a size of 0 was not known when the job was created, so the minimum (8) is enforced here.
  if (profile.width === 0 || profile.height === 0) {
    const minimum = minimumBitrateKbps(spec.videoCodec, geometry.width, geometry.height, profile.mode)
    if (profile.bitrateKbps < minimum)
      throw new PlanError('video_bitrate_too_low', `bitrate for this profile and codec should be at least ${minimum}`, {
        field: `videoProfiles[${profile.index}].video_bitrate`,
        details: { minimum, width: geometry.width, height: geometry.height },
      })
  }
  const frameRate = outputRate(found.rate, profile.frameRateFactor, spec.videoCodec, profile.index)
  const color = outputColor(found.picture, geometry.height)
  const untouched = isUntouched(found.picture, geometry, color)
  const scan = outputScan(spec, profile, { video, scan: found.scan }, { geometry, untouched }, warnings)
  // Captions of both fields' pictures would have to be put together again.
  const woven = scan.scan !== 'progressive' && scan.deinterlace === 'fields'
  return {
    codec: spec.videoCodec,
    quality: spec.quality,
    mode: profile.mode,
    bitrateKbps: profile.bitrateKbps,
    ...bufferModel(spec.videoCodec, profile.mode, profile.bitrateKbps),
    ...geometry,
    frameRate,
    ...gopOf(spec, frameRate, warnings),
    ...scan,
    color,
    logo: spec.logo === null || found.logo === null ? null : planLogo(spec.logo, found.logo, geometry),
    captions: keepsCaptions(spec, video, { frameRate, woven }, found, warnings),
  }
}

function keepsCaptions(
  spec: JobSpec,
  video: VideoStream,
  output: { frameRate: Rational; woven: boolean },
  found: { rate: Rational; scan: SourceScan; abilities: EngineAbilities },
  warnings: Warning[],
): boolean {
  const { frameRate, woven } = output
  const sameCadence = sameRatio(frameRate, found.rate) && !video.variableFrameRate && found.scan.kind !== 'telecined'
  const broadcast = captionRates.some((rate) => sameRatio(rate, frameRate))
  const kept = !woven && (sameCadence || (found.abilities.captionsAcrossRates && broadcast))
  if (kept && (spec.videoCodec !== 'hevc' || found.abilities.hevcCaptions)) return true
  // Removed in any case, since a probe does not look into every picture; told only where there are some.
  if (!video.closedCaptions) return false
  warnings.push({
    code: 'captions_removed',
    message:
      'The closed captions in the source’s pictures are left out: they would not survive this codec or frame rate.',
  })
  return false
}

function offset(media: MediaInfo, video: VideoStream): number {
  const late = (video.startSeconds ?? 0) - (media.startSeconds ?? video.startSeconds ?? 0)
  return Math.abs(late) < LARGEST_OFFSET_SECONDS ? Math.round(late * 1e6) / 1e6 : 0
}

function duration(media: MediaInfo, video: VideoStream, videoOffsetSeconds: number): number | null {
  if (media.durationSeconds !== null) return Math.max(0, media.durationSeconds - videoOffsetSeconds)
  return video.durationSeconds
}

function warnSource(media: MediaInfo, picture: SourcePicture, abilities: EngineAbilities, warnings: Warning[]): void {
  for (const stream of media.other)
    warnings.push({
      code: 'stream_left_out',
      message: `Stream ${stream.index} of the source (${stream.type}, ${stream.codec}) is not part of the output.`,
    })
  if (picture.conversion === 'none') return
  if (!abilities.zscale) {
    warnings.push({
      code: 'colors_not_converted',
      message:
        'The source has a wider range or gamut than BT.709, and this encoder cannot convert it: colours will look flat.',
    })
    return
  }
  warnings.push(
    picture.conversion === 'toneMap'
      ? { code: 'tone_mapped', message: 'The source is HDR; the output is tone-mapped to BT.709.' }
      : { code: 'gamut_converted', message: 'The source has a wide colour gamut; the output is BT.709.' },
  )
}

function refuseSharedPaths(outputs: readonly OutputPlan[]): void {
  const seen = new Map<string, number>()
  for (const output of outputs) {
    const first = seen.get(output.path)
    if (first !== undefined)
      throw new PlanError(
        'output_path_conflict',
        `videoProfiles[${first}] and videoProfiles[${output.profile}] would both write ${output.path}`,
        { field: `videoProfiles[${output.profile}].output`, details: { path: output.path } },
      )
    seen.set(output.path, output.profile)
  }
}

function unique(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(
    warnings.map((warning) => [`${warning.code} ${warning.field ?? ''} ${warning.message}`, warning]),
  )
  return [...seen.values()]
}
