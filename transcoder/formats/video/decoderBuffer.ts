// In charge of: a decoder's buffer (ITU-T H.264 and H.265, Annex C): it fills at the largest rate, and one access unit is
// taken out per frame. What a range of frames asks of it is known without the frames before, so ranges are encoded apart
// and checked where they meet.
// Not in charge of: rate and size of an output's buffer (plan/video/bitrateBudget.ts), sizes of
// frames (segmenter/cutters/).
import type { Rational } from '../rational.ts'

/** All values are bits. */
export interface DecoderBuffer {
  size: number
  /** What arrives in the time of one frame, unless the buffer is full. */
  perFrame: number
}

/**
 * What a range of frames does to the buffer, in bits. "Before" is right before its first frame is taken out. "After" is
 * right before the frame that follows its last one.
 */
export interface BufferDemand {
  /** The least fullness before it with which every frame is complete when it is taken out. */
  needed: number
  /** What the range adds to the fullness if the buffer is never full meanwhile; may be negative. */
  gain: number
  /** The fullness after the range is never more. */
  ceiling: number
  /** What a frame lacks even if the buffer is full before the range; at most 0 = nothing. */
  shortage: number
}

/** `kbps`: the largest rate; `bits`: the size. */
export function decoderBuffer(kbps: number, bits: number, frameRate: Rational): DecoderBuffer {
  return { size: bits, perFrame: (kbps * 1000 * frameRate.den) / frameRate.num }
}

/** One access unit of `bits`. */
export function demandOfFrame({ size, perFrame }: DecoderBuffer, bits: number): BufferDemand {
  return { needed: bits, gain: perFrame - bits, ceiling: size, shortage: bits - size }
}

/** The demand of two ranges that follow each other. Associative: they can be joined in any grouping, not in any order. */
export function joinDemands(earlier: BufferDemand, later: BufferDemand): BufferDemand {
  return {
    needed: Math.max(earlier.needed, later.needed - earlier.gain),
    gain: earlier.gain + later.gain,
    ceiling: Math.min(earlier.ceiling + later.gain, later.ceiling),
    shortage: Math.max(earlier.shortage, later.needed - earlier.ceiling, later.shortage),
  }
}

/** Bits in the buffer after the range, from `fullness` bits before it. */
export function fullnessBehind({ gain, ceiling }: BufferDemand, fullness: number): number {
  return Math.min(fullness + gain, ceiling)
}

/** Bits that the latest frame lacks when it is taken out (underflow), from `fullness` bits before the range; 0 = none. */
export function lackingBits({ needed, shortage }: BufferDemand, fullness: number): number {
  return Math.max(0, needed - fullness, shortage)
}

/**
 * Bits that did not fit into the full buffer, from `fullness` bits before the range. 0 where the rate is constant: there
 * they would be lost.
 */
export function excessBits({ gain, ceiling }: BufferDemand, fullness: number): number {
  return Math.max(0, fullness + gain - ceiling)
}
