// In charge of: the demands of ranges of frames against a buffer that is filled and emptied frame by frame.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decoderBuffer,
  demandOfFrame,
  excessBits,
  fullnessBehind,
  joinDemands,
  lackingBits,
  type BufferDemand,
  type DecoderBuffer,
} from '../../../../../transcoder/formats/video/decoderBuffer.ts'

/** Frame by frame. A frame that is late stays owed: the fullness is negative. */
function simulate({ size, perFrame }: DecoderBuffer, frames: readonly number[], before: number) {
  let [fullness, lacking, excess] = [before, 0, 0]
  for (const bits of frames) {
    lacking = Math.max(lacking, bits - fullness)
    fullness += perFrame - bits
    excess += Math.max(0, fullness - size)
    fullness = Math.min(fullness, size)
  }
  return { fullness, lacking, excess }
}

const demandOf = (buffer: DecoderBuffer, frames: readonly number[]): BufferDemand =>
  frames.map((bits) => demandOfFrame(buffer, bits)).reduce(joinDemands)

const buffers = fc.record({ size: fc.integer({ min: 1, max: 5000 }), perFrame: fc.integer({ min: 0, max: 2000 }) })
/** Mostly near the rate, some empty, some larger than the buffer. */
const frames = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 8000 })),
  { minLength: 1, maxLength: 40 },
)
/** From empty to full. */
const share = fc.integer({ min: 0, max: 100 })

test('a range is its frames one by one', () => {
  fc.assert(
    fc.property(buffers, frames, share, (buffer, range, percent) => {
      const before = Math.floor((buffer.size * percent) / 100)
      const demand = demandOf(buffer, range)
      expect({
        fullness: fullnessBehind(demand, before),
        lacking: lackingBits(demand, before),
        excess: excessBits(demand, before),
      }).toEqual(simulate(buffer, range, before))
    }),
    { numRuns: 2000 },
  )
})

test('ranges are joined in any grouping', () => {
  fc.assert(
    fc.property(buffers, frames, frames, frames, (buffer, ...ranges) => {
      const [a, b, c] = ranges.map((range) => demandOf(buffer, range)) as [BufferDemand, BufferDemand, BufferDemand]
      const whole = demandOf(buffer, ranges.flat())
      expect(joinDemands(joinDemands(a, b), c)).toEqual(whole)
      expect(joinDemands(a, joinDemands(b, c))).toEqual(whole)
    }),
    { numRuns: 1000 },
  )
})

test('what is needed is the least', () => {
  fc.assert(
    fc.property(buffers, frames, (buffer, range) => {
      const demand = demandOf(buffer, range)
      fc.pre(demand.shortage <= 0)
      expect(lackingBits(demand, demand.needed)).toBe(0)
      expect(lackingBits(demand, demand.needed - 1)).toBe(1)
    }),
  )
})

test('the rate of a buffer is that of its frames', () => {
  expect(decoderBuffer(1500, 3_000_000, { num: 30_000, den: 1001 })).toEqual({ size: 3_000_000, perFrame: 50_050 })
})
