// In charge of: a planned file in sentences for a video engineer.
// Not in charge of: the same facts as numbers (estimateJob.ts).
import { audioCodecs, videoCodecs } from '#contract/codecs.ts'
import { segmentForms } from '../forms.ts'
import { videoEncodings } from '../codecs.ts'
import { type Rational, toNumber } from '../../formats/rational.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

const SCAN_TEXT = {
  progressive: 'progressive',
  tff: 'interlaced, top field first',
  bff: 'interlaced, bottom field first',
}
const DEINTERLACE_TEXT = {
  none: null,
  frames: 'The source is deinterlaced, one frame per source frame.',
  fields: 'The source is deinterlaced, one frame per field.',
  telecine: 'The progressive frames behind the source’s 3:2 pulldown are restored.',
} as const

export function ratioText({ num, den }: Rational, separator = ':'): string {
  return `${num}${separator}${den}`
}

function number(value: number): string {
  return String(Number(value.toFixed(3)))
}

function rateText(video: VideoPlan): string {
  if (video.mode === 'cbr') return `a constant ${video.bitrateKbps} kbps`
  if (video.mode === 'qvbr') return `constant quality of at most ${video.maxKbps} kbps`
  return `${video.bitrateKbps} kbps on average with peaks of ${video.maxKbps}`
}

/** The format that all inputs get; null for one source. */
function joinText({ reads }: Plan): string | null {
  if (reads.kind !== 'pieces') return null
  const { join } = reads
  const inputs = `Joined from ${join.pieces.length} inputs`
  if (join.canvas === null) return `${inputs}.`
  const { width, height, rate, scan, pixelFormat, piece } = join.canvas
  const range = pixelFormat === 'yuv420p10le' ? ', HDR' : ''
  return `${inputs}, all brought to the format of inputs[${piece}], the longest: ${width} × ${height}, ${number(toNumber(rate))} frames per second, ${SCAN_TEXT[scan]}${range}.`
}

function audioText(track: AudioPlan): string {
  const language = track.language === null ? '' : ` (${track.language})`
  const dialogue = track.dialnorm === null ? '' : `, dialnorm −${track.dialnorm} dB`
  const rate =
    audioCodecs[track.codec].bitrates === null ? `of ${track.bitDepth ?? 16} bits` : `at ${track.bitrateKbps} kbps`
  return `${track.codec} ${track.channels === 6 ? '5.1' : 'stereo'} ${rate}, ${track.sampleRate} Hz, from source stream ${track.requestedStream ?? track.sourceStream}${language}${dialogue}`
}

export function describeAudio(track: AudioPlan): string {
  return track.copied === null
    ? `Audio: ${audioText(track)}${levelText(track)}.`
    : `Audio: copied, ${track.codec} with ${track.channels} channels at about ${track.bitrateKbps} kbps, ${track.sampleRate} Hz, from source stream ${track.sourceStream}.`
}

function levelText({ loudness, volumePercent }: AudioPlan): string {
  if (loudness !== null)
    return `, normalised by ${number(loudness.gainDb)} dB${loudness.limited ? ', with peaks limited' : ''}`
  return volumePercent === 100 ? '' : `, at ${volumePercent} % volume`
}

/** `silence` is the text for an output without audio. */
export function describeOutput(
  output: Pick<OutputPlan, 'video' | 'audio' | 'muxRateKbps'>,
  plan: Plan,
  silence = 'No audio.',
): string[] {
  const { video, audio } = output
  if (video.copied !== null) return describeCopy(video, audio, plan, silence)
  const { presets } = videoEncodings[video.codec]
  const preset = presets === null ? '' : ` (preset ${presets[video.quality]})`
  const rate = toNumber(video.frameRate)
  const bars = video.pictureWidth < video.width || video.pictureHeight < video.height
  const joined = joinText(plan)
  const sentences = [
    ...(joined === null ? [] : [joined]),
    `${video.width} × ${video.height}, samples ${ratioText(video.sar)}, ${number(rate)} frames per second, ${SCAN_TEXT[video.scan]}.`,
    `${videoCodecs[video.codec].requestName}${preset}, ${rateText(video)}, in a buffer of ${number(video.bufferBits / 1e6)} Mbit.`,
    `Closed GOPs of ${video.gopFrames} frames (${number(video.gopFrames / rate)} s), ${video.bFrames} B-frames between anchors.`,
  ]
  const fields = DEINTERLACE_TEXT[video.deinterlace]
  if (fields !== null) sentences.push(fields)
  if (video.turn !== 0) sentences.push(`The video is rotated by ${video.turn}° clockwise.`)
  if (video.mirror !== 'none') sentences.push(`The video is mirrored (${video.mirror}).`)
  if (bars) sentences.push(`The video is ${video.pictureWidth} × ${video.pictureHeight} with bars around it.`)
  if (plan.picture.conversion === 'toneMap') sentences.push('HDR is tone-mapped to BT.709.')
  if (plan.picture.conversion === 'gamut') sentences.push('The wide gamut is converted to BT.709.')
  sentences.push(...audio.map(describeAudio))
  if (audio.length === 0) sentences.push(silence)
  if (video.captions) sentences.push('Captions inside the video are kept if the source has any.')
  if (video.logo) {
    const { width, height, x, y, opacity } = video.logo
    sentences.push(`Logo of ${width} × ${height} at ${x}, ${y} with an opacity of ${number(opacity * 100)} %.`)
  }
  if (plan.cues !== null)
    sentences.push(
      `SCTE-35 cues on PID ${plan.cues.pid}, with ${video.spliceFrames.length} key frames at splice points.`,
    )
  if (output.muxRateKbps !== null) sentences.push(`A constant multiplex of ${output.muxRateKbps} kbps.`)
  return sentences
}

function describeCopy(video: VideoPlan, audio: readonly AudioPlan[], plan: Plan, silence: string): string[] {
  const rate = number(toNumber(video.frameRate))
  return [
    `The source’s video is copied: ${videoCodecs[video.codec].requestName}, ${video.width} × ${video.height}, ${rate} frames per second, ${SCAN_TEXT[video.scan]}, ${video.bitrateKbps} kbps on average with peaks of ${video.maxKbps}; ${video.copied?.description ?? ''}`,
    ...(audio.length === 0 ? [silence] : audio.map(describeAudio)),
    ...(plan.cues === null ? [] : [`SCTE-35 cues on PID ${plan.cues.pid}.`]),
  ]
}

export function describeRendition(rendition: RenditionPlan, plan: Plan, packaging: PackagingPlan): string[] {
  const { video, audio, audioRenditions: apart } = rendition
  const silence = apart.length === 0 ? 'No audio.' : `Audio is separate: ${apart.join(', ')}.`
  return [
    ...(video === null ? audio.map(describeAudio) : describeOutput({ video, audio, muxRateKbps: null }, plan, silence)),
    `Segments of ${rendition.segmentStarts === null ? '' : 'at most '}${number(toNumber(packaging.segmentDuration))} s as ${rendition.forms.map((form) => segmentForms[form].title).join(' and ')}.`,
  ]
}
