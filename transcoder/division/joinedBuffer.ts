// In charge of: whether a decoder's buffer is filled in time where the chunks of a rendition meet.
// Not in charge of: the buffer (formats/video/decoderBuffer.ts), how full it is where a chunk begins (plan/video/rangeBuffer.ts).
import type { Warning } from '#contract/errors.ts'
import { excessBits, joinDemands, lackingBits } from '../formats/video/decoderBuffer.ts'
import { bufferOf, FIRST_FULLNESS } from '../plan/video/rangeBuffer.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { ChunkRecord, StreamRecord } from './partRecord.ts'

interface BufferFault {
  /** How late an access unit is at the largest rate, in seconds; 0 = none is. */
  lateSeconds: number
  /** Bits that do not fit into the buffer; 0 = none, or the rate is not constant. */
  excess: number
}

/** Roundings of the encoder of a chunk: filler has at least 5 bytes, and rates are stated in units of 64 bits. */
const TOLERANCE_BITS = 1000

/**
 * `streams`: of all chunks, in their order. null = no frame is later than in its own chunk with the fullness from which
 * an output begins: an encoder may exceed the rate in the middle of an undivided output as well.
 */
export function bufferFault(video: VideoPlan, streams: readonly Pick<StreamRecord, 'demand'>[]): BufferFault | null {
  const demands = streams.flatMap(({ demand }) => demand ?? [])
  // The demand of some chunk was not measured.
  if (demands.length < streams.length || demands.length === 0) return null
  const fullness = bufferOf(video).size * FIRST_FULLNESS
  const whole = demands.reduce(joinDemands)
  const lacking = lackingBits(whole, fullness)
  const apart = Math.max(...demands.map((each) => lackingBits(each, fullness)))
  const late = lacking > apart + TOLERANCE_BITS ? lacking : 0
  const excess = video.mode === 'cbr' ? excessBits(whole, fullness) : 0
  if (late === 0 && excess <= TOLERANCE_BITS * demands.length) return null
  return { lateSeconds: late / (video.maxKbps * 1000), excess }
}

/**
 * Warnings about rates that are not constant and that chunks exceed together. The outputs are kept: files and segments are
 * read ahead, and an encode of the whole video by one task would cost far more.
 */
export function joinWarnings(whole: Plan, chunks: readonly ChunkRecord[]): Warning[] {
  const late = (whole.packaging?.renditions ?? []).flatMap(({ id, video }, number) => {
    if (video === null || video.mode === 'cbr') return []
    const streams = chunks.flatMap((chunk) => chunk.streams.filter(({ rendition }) => rendition === number))
    const fault = bufferFault(video, streams)
    return fault === null ? [] : [`${id}: ${Math.ceil(fault.lateSeconds * 1000)} ms`]
  })
  if (late.length === 0) return []
  const message = `Chunks exceed the largest rate together: access units reach a decoder after their decoding time (${late.join(', ')}). A higher video_bitrate avoids it, or one task (max_chunk_seconds 0).`
  return [{ code: 'access_units_late', message }]
}
