// In charge of: what is a fault of a decoder's buffer where chunks meet.
// Not in charge of: the model (formats/video/decoderBuffer.test.ts), encoders (pipeline/dividedBuffer.long.test.ts).
import { describe, expect, test } from 'vitest'
import { bufferFault } from '../../../../transcoder/division/joinedBuffer.ts'
import { demandOfFrame, joinDemands, type BufferDemand } from '../../../../transcoder/formats/video/decoderBuffer.ts'
import { bufferOf } from '../../../../transcoder/plan/video/rangeBuffer.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

const FRAME = 40_000
/** A buffer of 10 frames. */
const video = (mode: VideoPlan['mode']): VideoPlan =>
  ({ mode, maxKbps: 1000, bufferBits: 10 * FRAME, frameRate: { num: 25, den: 1 } }) as VideoPlan

/** A chunk of frames, given in frames' worth of the rate. */
const chunk = (...frames: number[]): { demand: BufferDemand } => ({
  demand: frames.map((each) => demandOfFrame(bufferOf(video('vbr')), each * FRAME)).reduce(joinDemands),
})
const spent = (mode: VideoPlan['mode'], ...chunks: { demand?: BufferDemand }[]) => bufferFault(video(mode), chunks)

describe.each(['vbr', 'qvbr', 'cbr'] as const)('%s', (mode) => {
  test('chunks that leave as much as the next one needs', () => {
    expect(spent(mode, chunk(5, 1, 1), chunk(4, 1, 1))).toBeNull()
  })

  test('a chunk that begins with more than is left', () => {
    // 9 - 5 + 1 = 5 are left for 6.
    expect(spent(mode, chunk(5, 1, 1), chunk(6, 1))).toEqual({ lateSeconds: 0.04, excess: 0 })
  })

  test('chunks that each take more than arrives', () => {
    const each = chunk(3, 1, 1)
    expect(spent(mode, each, each, each, each)).toBeNull()
    expect(spent(mode, each, each, each, each, each)).toEqual({ lateSeconds: 0.08, excess: 0 })
  })

  test('a frame that one encoder would have made too large, too', () => {
    expect(spent(mode, chunk(12, 1))).toBeNull()
    expect(spent(mode, chunk(1, 12, 1), chunk(1, 1))).toBeNull()
    expect(spent(mode, chunk(12, 1), chunk(3, 1))).toEqual({ lateSeconds: 0.2, excess: 0 })
  })

  test('chunks that were not measured', () => {
    expect(spent(mode, chunk(5, 1, 1), {}, chunk(6, 1))).toBeNull()
    expect(spent(mode)).toBeNull()
  })
})

test('only a constant rate has to be taken', () => {
  const empty = chunk(0, 0, 0)
  expect(spent('qvbr', empty)).toBeNull()
  expect(spent('cbr', empty)).toEqual({ lateSeconds: 0, excess: 2 * FRAME })
})
