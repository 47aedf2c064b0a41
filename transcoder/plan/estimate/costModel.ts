// In charge of: what a plan would take: bytes, CPU time, wall time, requests and money, each as a range.
// Not in charge of: the constants (costConstants.ts), the report (estimateJob.ts).
import { extractCpuSeconds, seekedSeconds } from './extractReports.ts'
import { MAX_UPLOAD_PARTS, MIN_PART_BYTES } from '#contract/task/protocol.ts'
import type { Estimate, EstimateRange } from '#contract/task/dryRunEstimate.ts'
import { audioEncodings, videoCodecOfSource, videoEncodings } from '../codecs.ts'
import { fileRules, segmentForms } from '../forms.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { AudioFilePlan, OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { toNumber } from '../../formats/rational.ts'
import { plannedEncodes } from '../argv/segmentArgs.ts'
import {
  AUDIO_SECONDS,
  COPY,
  CPU_SPREAD,
  DECODE_OTHER,
  DEINTERLACE,
  FIXED_CPU_SECONDS,
  FIXED_WALL_SECONDS,
  SCALE,
  TONE_MAP,
  UTILISATION,
} from './costConstants.ts'

export interface Pricing {
  machine: Estimate['predicted']['machine']
  prices: Estimate['predicted']['prices']
}

const MEGAPIXEL = 1_000_000
const ASSUMED_RATE = 25
/**
 * The least share of the requested rate that is used: vbr spends little on easy video, qvbr has a quality and no rate.
 */
const MIN_VIDEO_SHARE = { cbr: 0.9, vbr: 0.05, qvbr: 0.01 } as const
const LIKELY_VIDEO_SHARE = { cbr: 1, vbr: 1, qvbr: 0.7 } as const

/** The same overhead as in the service's size limit for single files. */
const MAX_OVERHEAD = 1.2
const FIXED_BYTES = 65_536

const kbpsToBytes = (seconds: number, kbps: number): number => seconds * kbps * 125

function audioKbps(tracks: readonly AudioPlan[]): { low: number; likely: number } {
  return {
    low: tracks.reduce((sum, track) => sum + track.bitrateKbps * audioEncodings[track.codec].leastShare, 0),
    likely: tracks.reduce((sum, track) => sum + track.bitrateKbps, 0),
  }
}

/** The rate of a copied video was measured. */
function leastShare({ mode, copied }: VideoPlan): number {
  return copied === null ? MIN_VIDEO_SHARE[mode] : 0.95
}

/** Bytes of an output. `high` is the size that the service itself assumes. null where the length is unknown. */
export function outputBytes(output: OutputPlan, seconds: number | null): EstimateRange | null {
  if (seconds === null) return null
  const { video, audio, muxRateKbps } = output
  const audioRate = audioKbps(audio)
  const reserve = output.headerReserveBytes ?? 0
  const likely =
    reserve +
    kbpsToBytes(
      seconds,
      muxRateKbps ??
        (video.bitrateKbps * LIKELY_VIDEO_SHARE[video.mode] + audioRate.likely) * fileRules[output.container].overhead,
    )
  const least = reserve + kbpsToBytes(seconds, video.bitrateKbps * leastShare(video) + audioRate.low)
  return rounded({ low: least, likely: Math.min(likely, output.expectedBytes), high: output.expectedBytes })
}

export function audioFileBytes(file: AudioFilePlan): EstimateRange | null {
  if (file.durationSeconds === null) return null
  const { low, likely } = audioKbps([file.audio])
  return rounded({
    low: kbpsToBytes(file.durationSeconds, low),
    likely: Math.min(kbpsToBytes(file.durationSeconds, likely), file.expectedBytes),
    high: file.expectedBytes,
  })
}

/** Bytes of a rendition in all of its forms: segments and manifests. */
export function renditionBytes(rendition: RenditionPlan, seconds: number | null): EstimateRange | null {
  if (seconds === null) return null
  const { video, audio, forms } = rendition
  const total = { low: 0, likely: 0, high: 0 }
  for (const form of forms) {
    // A video rendition has audio in its transport stream only.
    const audioRate = audioKbps(video === null || segmentForms[form].carriesAudio ? audio : [])
    const container = fileRules[segmentForms[form].container].overhead
    const videoKbps = video === null ? 0 : video.bitrateKbps
    const least = videoKbps * (video === null ? 0 : leastShare(video)) + audioRate.low
    const likely = videoKbps * (video === null ? 0 : LIKELY_VIDEO_SHARE[video.mode]) + audioRate.likely
    total.low += kbpsToBytes(seconds, least)
    total.likely += kbpsToBytes(seconds, likely * container)
    total.high += kbpsToBytes(seconds, ((video?.maxKbps ?? 0) + audioRate.likely) * MAX_OVERHEAD) + FIXED_BYTES
  }
  return rounded(total)
}

/** Each segment is an object. */
function segmentWrites({ packaging, durationSeconds }: Plan): number {
  if (packaging === null || durationSeconds === null) return 0
  const streams = packaging.renditions.reduce((sum, { forms }) => sum + forms.length, 0)
  return streams * Math.ceil(durationSeconds / toNumber(packaging.segmentDuration))
}

function rounded({ low, likely, high }: EstimateRange): EstimateRange {
  return { low: Math.floor(low), likely: Math.round(likely), high: Math.ceil(high) }
}

/** CPU-seconds per second of source. */
export function cpuSecondsPerSecond(plan: Plan, media: MediaInfo): number {
  const { video } = media
  const sourcePixels =
    video === null
      ? 0
      : (video.width * video.height * (video.frameRate === null ? ASSUMED_RATE : toNumber(video.frameRate))) / MEGAPIXEL
  const known = videoCodecOfSource(video?.codec ?? '')
  const encodes = [...plan.outputs, ...plannedEncodes(plan)]
  const isDecoded = encodes.some(({ video: each }) => each !== null && each.copied === null)
  const hasFrames = isDecoded || plan.packaging?.thumbnails != null
  // Stills and the preview are few frames, but those before them are decoded, too.
  const decode =
    !hasFrames && plan.extracts?.frames == null
      ? 0
      : sourcePixels * (known === null ? DECODE_OTHER : videoEncodings[known].decodeSeconds)
  const videoCpu = encodes.reduce(
    (sum, { video: each }) => sum + (each === null ? 0 : cpuSecondsPerVideoSecond(each, sourcePixels)),
    0,
  )
  const toneMapped = plan.picture.conversion === 'none' || !hasFrames ? 0 : sourcePixels * TONE_MAP
  const audioTracks = [...encodes.flatMap(({ audio }) => audio), ...plan.audioFiles.map((file) => file.audio)]
  // Loudness is measured in a separate pass.
  const waveforms = plan.extracts?.waveform == null ? 0 : 1
  const tracks = audioTracks
    .filter(({ copied }) => copied === null)
    .reduce((sum, track) => sum + (track.loudness === null ? 1 : 2), waveforms)
  return decode * decodedShare(plan) + videoCpu + toneMapped + tracks * AUDIO_SECONDS
}

/** The part of the source whose video is decoded. */
function decodedShare(plan: Plan): number {
  if (encodesVideo(plan)) return 1
  const seconds = seekedSeconds(plan)
  if (seconds !== null)
    return plan.durationSeconds === null || plan.durationSeconds === 0 ? 1 : seconds / plan.durationSeconds
  return plan.extracts?.frames == null ? 0 : 1
}

function encodesVideo({ outputs, packaging }: Plan): boolean {
  return outputs.length > 0 || (packaging?.renditions ?? []).some(({ kind }) => kind === 'video')
}

function cpuSecondsPerVideoSecond(video: VideoPlan, sourcePixels: number): number {
  // Listing its packets, and writing them.
  if (video.copied !== null) return (video.bitrateKbps * COPY) / 1000
  const pixels = (video.width * video.height * toNumber(video.frameRate)) / MEGAPIXEL
  const fields = video.deinterlace === 'none' ? 0 : sourcePixels * DEINTERLACE
  return pixels * videoEncodings[video.codec].encodeSeconds[video.quality] + (pixels + sourcePixels) * SCALE + fields
}

/** On one machine; null = the source does not state its length. */
export function predictTime(
  plan: Plan,
  media: MediaInfo,
  vcpus: number,
): { cpu: EstimateRange; wall: EstimateRange } | null {
  const seconds = plan.durationSeconds
  if (seconds === null) return null
  const likely = seconds * cpuSecondsPerSecond(plan, media) + extractCpuSeconds(plan)
  const cpu = mapRange((end) => likely * (end === 'likely' ? 1 : CPU_SPREAD[end]) + FIXED_CPU_SECONDS[end])
  const wall = {
    low: FIXED_WALL_SECONDS.low + cpu.low / (vcpus * UTILISATION.high),
    likely: FIXED_WALL_SECONDS.likely + cpu.likely / (vcpus * UTILISATION.likely),
    high: FIXED_WALL_SECONDS.high + cpu.high / (vcpus * UTILISATION.low),
  }
  return { cpu, wall }
}

/**
 * All values except the sizes are modelled: the model knows neither the complexity of the video nor the speed of the
 * machine.
 */
export function predictCost(
  plan: Plan,
  media: MediaInfo,
  files: readonly (EstimateRange | null)[],
  { machine, prices }: Pricing,
): Estimate['predicted'] {
  const time = predictTime(plan, media, machine.vcpus)
  const known = files.filter((range) => range !== null)
  if (time === null || known.length < files.length)
    return {
      wall_seconds: null,
      cpu_seconds: null,
      output_bytes: null,
      cost_usd: null,
      store_writes: null,
      machine,
      prices,
    }
  const { cpu, wall } = time
  const writes = known.reduce((sum, range) => sum + storeWrites(range), segmentWrites(plan))
  const standing = machine.memory_gib * prices.memory_gib_second + machine.disk_gb * prices.disk_gb_second
  return {
    wall_seconds: mapRange((end) => roundTo(wall[end], 1)),
    cpu_seconds: mapRange((end) => roundTo(cpu[end], 1)),
    output_bytes: mapRange((end) => known.reduce((sum, range) => sum + range[end], 0)),
    cost_usd: mapRange((end) =>
      roundTo(
        cpu[end] * prices.vcpu_second + wall[end] * standing + (writes / 1e6) * prices.store_writes_per_million,
        6,
      ),
    ),
    store_writes: writes,
    machine,
    prices,
  }
}

function mapRange(value: (end: keyof EstimateRange) => number): EstimateRange {
  return { low: value('low'), likely: value('likely'), high: value('high') }
}

function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

/** Create, parts, complete. The part size follows from the upper estimate, as in the task API. */
function storeWrites({ likely, high }: EstimateRange): number {
  const part = Math.max(MIN_PART_BYTES, Math.ceil((high * 1.1) / MAX_UPLOAD_PARTS))
  return 2 + Math.max(1, Math.ceil(likely / part))
}
