// In charge of: sizes that are known before encoding: buffer model, multiplex rate, header reserve, file size.
// Not in charge of: the minimum bitrate (contract/job/rules/videoBitrates.ts).
import type { VideoCodec } from '#contract/codecs.ts'
import type { FileContainer } from '#contract/containers.ts'
import type { BitrateMode } from '#contract/job/jobSpec.ts'
import { frameSamples } from '../../formats/codecs.ts'
import { videoEncodings } from '../codecs.ts'
import { fileRules } from '../forms.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { SidecarPlan } from '#contract/task/plan/captionsPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { toNumber } from '../../formats/rational.ts'

/**
 * Measured worst case of a header: per video sample, per audio packet, and fixed (stts, ctts, stsz, stss, stsc, co64
 * …).
 */
const HEADER_BYTES_PER_FRAME = 44
const HEADER_BYTES_PER_PACKET = 32
const HEADER_BYTES_FIXED = 4096
/** Two samples and the gaps after them (stts, stsz, stsc, co64): overlapping captions are written twice. */
const HEADER_BYTES_PER_CAPTION = 128
/** A probe may report a slightly shorter duration. */
const HEADER_MARGIN = 1.05
const HEADER_EXTRA_SECONDS = 5
/**
 * A larger header is moved to the front at the end instead, because a reserve of that size would have to be held back.
 */
const MAX_RESERVE_BYTES = 64 * 1024 * 1024

/** Assumed where the source does not state its duration. Only the part size follows from it. */
const UNKNOWN_DURATION_SECONDS = 12 * 3600

/**
 * vbr: peaks of 1.5 × over a buffer of 3 s; qvbr: never above the bitrate over 2 s; cbr: one second, as HRD signals it.
 */
const VBV_BUFFERS: Record<BitrateMode, { peak: number; seconds: number }> = {
  cbr: { peak: 1, seconds: 1 },
  vbr: { peak: 1.5, seconds: 3 },
  qvbr: { peak: 1, seconds: 2 },
}

/**
 * At a constant rate the decoder's buffer is filled only slightly faster than the rate of the video. A receiver waits
 * that long for the first frame, and MPEG-2 allows 1 s (ISO/IEC 13818-1, 2.4.2.6).
 */
const CONSTANT_MUX_SECONDS = 0.7

/** The decoder buffer model of an output. cbr in a transport stream makes the whole multiplex constant. */
export function vbvModel(
  codec: VideoCodec,
  mode: BitrateMode,
  kbps: number,
  container: FileContainer,
): { maxKbps: number; bufferBits: number } {
  const maxKbps = Math.round(kbps * VBV_BUFFERS[mode].peak)
  const seconds =
    mode === 'cbr' && fileRules[container].isMultiplexed ? CONSTANT_MUX_SECONDS : VBV_BUFFERS[mode].seconds
  const bufferBits = Math.round(kbps * 1000 * seconds)
  const limit = videoEncodings[codec].decoderBuffers?.find(({ kbps: highest }) => maxKbps <= highest)
  return { maxKbps, bufferBits: Math.min(bufferBits, limit?.bits ?? Infinity) }
}

/** Stuffing and a PES header for every frame beyond 25 per second, in kbps. */
const KBPS_PER_FRAME = 1
const USUAL_RATE = 25

/**
 * kbps of a constant transport stream, including PES, PSI and PCR. At 1.0 × the decoder would get data too late
 * (measured).
 */
export function muxRate(videoKbps: number, framesPerSecond: number, audio: readonly AudioPlan[]): number {
  const audioKbps = audio.reduce((sum, track) => sum + track.bitrateKbps, 0)
  const pictures = Math.max(0, framesPerSecond - USUAL_RATE) * KBPS_PER_FRAME
  return Math.ceil((11 * videoKbps + 11 * audioKbps) / 10 + 60 + pictures)
}

/** Bytes to reserve for the header of an mp4; null where the size is unknown or too large to hold back. */
export function moovReserve(
  seconds: number | null,
  video: VideoPlan,
  audio: readonly AudioPlan[],
  captions: readonly SidecarPlan[] = [],
): number | null {
  if (seconds === null) return null
  const long = seconds * HEADER_MARGIN + HEADER_EXTRA_SECONDS
  const packets = audio.reduce(
    (sum, track) => sum + Math.ceil((long * track.sampleRate) / frameSamples[track.codec]),
    0,
  )
  const bytes =
    Math.ceil(long * toNumber(video.frameRate)) * HEADER_BYTES_PER_FRAME +
    packets * HEADER_BYTES_PER_PACKET +
    HEADER_BYTES_FIXED * (1 + audio.length + captions.length) +
    captions.reduce((sum, { cues, label }) => sum + cues * HEADER_BYTES_PER_CAPTION + label.length * 8, 0)
  return bytes > MAX_RESERVE_BYTES ? null : bytes
}

/** Upper estimate of an output's size in bytes. */
export function expectedSize(
  seconds: number | null,
  video: VideoPlan,
  audio: readonly AudioPlan[],
  muxRateKbps: number | null,
  reserveBytes: number | null,
): number {
  const elementary = video.maxKbps + audio.reduce((sum, track) => sum + track.bitrateKbps, 0)
  const kbps = muxRateKbps ?? elementary * 1.15
  return Math.ceil((seconds ?? UNKNOWN_DURATION_SECONDS) * kbps * 125 * 1.02) + (reserveBytes ?? 0) + 65_536
}
