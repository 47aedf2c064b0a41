// In charge of: the decoder's buffer where ranges of a video meet that are encoded by themselves: how full it is there, and
// how a range is encoded so that it can end like that.
// Not in charge of: the filler after a range (segmenter/cutters/constantRateRange.ts), the flags (argv/encoderArgs.ts).
import { toNumber, type Rational } from '../../formats/rational.ts'
import { decoderBuffer, type DecoderBuffer } from '../../formats/video/decoderBuffer.ts'
import { rangeFrames, type FrameRange } from '../model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/**
 * Share of the buffer that is full where a range begins. The encoder of the range before has to leave as much, and the
 * encoder of this range spends it on its first picture. 0.4 was left by every h.264 encode that was measured, with cuts and
 * noise right before the join; 0.5 was not. vbr and qvbr leave 0.5 where the video is at its largest rate all the time:
 * from 0.9, each range would take 0.4 of a buffer more than arrives.
 */
const JOIN_FULLNESS = 0.4
/** Share of the buffer that is full where the output begins: the encoders choose it. */
export const FIRST_FULLNESS = 0.9
/** Seconds after the end of a range that are encoded and dropped: the encoder keeps bits for the key frame that follows. */
const RUN_OUT_SECONDS = 1
/** Seconds at the end of a range in which the buffer is filled to four fifths, if it is emptier. */
const SAVING_SECONDS = 1

type PlanOfRange = Pick<Plan, 'range'> & Partial<Pick<Plan, 'packaging'>>

export interface RangeBuffer {
  /** Share of the buffer at the range's beginning; null = the encoder's choice. */
  initial: number | null
  /** Frames of the range, by number in it, in which bits are saved; null = none. */
  saving: { first: number; last: number } | null
}

/** How full the buffer is when the range begins and ends. null = the run encodes all of the video, or none. */
export function rangeBuffer(plan: PlanOfRange, video: VideoPlan): RangeBuffer | null {
  const range = rangeFrames(plan, video.frameRate)
  if (range === null) return null
  const { first, end } = range
  return {
    initial: first === 0 ? null : JOIN_FULLNESS,
    saving: video.mode !== 'cbr' || end === null ? null : savedFrames(end - first, video.frameRate),
  }
}

/** What a range stores until its end, so that the buffer is as full as where the next one begins. */
export interface RangeEnd {
  frames: number
  bytes: number
}

/** The end of a range of a constant bitrate. null = nothing follows, or the rate is not constant. */
export function rangeEnd(plan: PlanOfRange, video: VideoPlan): RangeEnd | null {
  const range = constantRange(plan, video)
  if (range === null || range.end === null) return null
  const { first, end } = range
  const atFirst = first === 0 ? Math.floor(((FIRST_FULLNESS - JOIN_FULLNESS) * bufferBits(video)) / 8) : 0
  // Counted from the beginning of the output: roundings do not add up over many ranges.
  return { frames: end - first, bytes: atFirst + bytesUntil(end, video) - bytesUntil(first, video) }
}

/** Timing messages count fields. */
const TICKS_PER_FRAME = 2

/**
 * Clock ticks from the last key frame before the range to its first frame; null = nothing comes before, or the rate is not
 * constant.
 */
export function ticksBefore(plan: PlanOfRange, video: VideoPlan): number | null {
  const range = constantRange(plan, video)
  if (range === null || range.first === 0) return null
  const { gopFrames, spliceFrames } = video
  const ofGrid = Math.floor((range.first - 1) / gopFrames) * gopFrames
  const key = Math.max(ofGrid, spliceFrames.findLast((frame) => frame < range.first) ?? 0)
  return (range.first - key) * TICKS_PER_FRAME
}

/** Frames at this rate that are filtered after the range, for renditions of a constant bitrate. */
export function runOutFrames({ range, packaging }: PlanOfRange, rate: Rational): number {
  const isNeeded =
    range != null && range.to !== null && packaging?.renditions.some(({ video }) => video?.mode === 'cbr')
  return isNeeded === true ? Math.ceil(toNumber(rate) * RUN_OUT_SECONDS) : 0
}

function constantRange(plan: PlanOfRange, { mode, frameRate }: VideoPlan): FrameRange | null {
  return mode === 'cbr' ? rangeFrames(plan, frameRate) : null
}

function savedFrames(frames: number, rate: Rational): { first: number; last: number } {
  const saved = Math.min(Math.round(toNumber(rate) * SAVING_SECONDS), Math.floor(frames / 2))
  return { first: frames - saved, last: frames - 1 }
}

function bytesUntil(frame: number, { maxKbps, frameRate }: VideoPlan): number {
  return Math.floor((signalled(maxKbps * 1000, RATE_UNIT) * frame * frameRate.den) / (frameRate.num * 8))
}

function bufferBits({ bufferBits: bits }: VideoPlan): number {
  return signalled(Math.floor(bits / 1000) * 1000, SIZE_UNIT)
}

/** The decoder's buffer, with the values that the encoder keeps to. */
export function bufferOf(video: VideoPlan): DecoderBuffer {
  const { mode, maxKbps, frameRate } = video
  const rate = mode === 'cbr' ? signalled(maxKbps * 1000, RATE_UNIT) : maxKbps * 1000
  return decoderBuffer(rate / 1000, mode === 'cbr' ? bufferBits(video) : video.bufferBits, frameRate)
}

/** Units of bit_rate_value and cpb_size_value (ITU-T H.264, E.2.2). x264 keeps to the rounded values. */
const RATE_UNIT = 2 ** 6
const SIZE_UNIT = 2 ** 4

function signalled(bits: number, unit: number): number {
  return Math.floor(bits / unit) * unit
}
