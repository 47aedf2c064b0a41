// In charge of: how a range of a constant bitrate is encoded, and where it ends.
// Not in charge of: what the encoder makes of it (division/dividedRate.test.ts).
import { describe, expect, test } from 'vitest'
import { videoEncoderArgs } from '../../../../transcoder/plan/argv/encoderArgs.ts'
import { rangeBuffer, rangeEnd, runOutFrames, ticksBefore } from '../../../../transcoder/plan/video/rangeBuffer.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'

/** Segments of 2 s, GOPs of 1 s, 800 kbps. */
function made(
  range: [from: number, to: number | null],
  change: Partial<VideoPlan> = {},
): { plan: Plan; video: VideoPlan } {
  const spec = jobSpec({
    video: [videoProfile({ mode: 'cbr', bitrateKbps: 800 })],
    packaging: packagingSpec({ segmentSeconds: 2 }),
  })
  const plan = planJob(spec, mediaInfo())
  const packaging = plan.packaging!
  const video = { ...packaging.renditions[0]!.video!, ...change }
  const [from, to] = range
  const renditions = packaging.renditions.with(0, { ...packaging.renditions[0]!, video })
  return { plan: { ...plan, range: { from, to }, packaging: { ...packaging, renditions } }, video }
}

const chunk = (...[range, change]: Parameters<typeof made>) => {
  const { plan, video } = made(range, change)
  return {
    buffer: rangeBuffer(plan, video),
    end: rangeEnd(plan, video),
    ticks: ticksBefore(plan, video),
    runOut: runOutFrames(plan, video.frameRate),
  }
}

const SECOND = 800_000 / 8

describe('of a constant bitrate', () => {
  test('the first one leaves what the next one begins with', () => {
    expect(chunk([0, 5])).toEqual({
      buffer: { initial: null, saving: { first: 225, last: 249 } },
      end: { frames: 250, bytes: 10 * SECOND + 0.5 * SECOND },
      ticks: null,
      runOut: 25,
    })
  })

  test('one in the middle has exactly its bitrate', () => {
    expect(chunk([5, 8])).toEqual({
      buffer: { initial: 0.4, saving: { first: 125, last: 149 } },
      end: { frames: 150, bytes: 6 * SECOND },
      ticks: 50,
      runOut: 25,
    })
  })

  test('nothing follows the last one', () => {
    expect(chunk([5, null])).toEqual({ buffer: { initial: 0.4, saving: null }, end: null, ticks: 50, runOut: 0 })
  })

  test('a splice point before it is a key frame', () => {
    expect(chunk([5, 8], { spliceFrames: [10, 240, 260] }).ticks).toBe(20)
    expect(chunk([5, 8], { spliceFrames: [10, 250] }).ticks).toBe(50)
  })

  test('roundings do not add up', () => {
    const frameRate = { num: 30_000, den: 1001 }
    const odd = { frameRate, maxKbps: 333, bitrateKbps: 333 }
    const bytes = (from: number, to: number): number => chunk([from, to], odd).end!.bytes
    const apart = Array.from({ length: 40 }, (_, at) => bytes(at + 1, at + 2))
    expect(new Set(apart).size).toBeGreaterThan(1)
    expect(apart.reduce((sum, each) => sum + each, 0)).toBe(bytes(1, 41))
  })

  test('a rate and a buffer that the stream cannot state exactly', () => {
    // 801,000 bits are 12,515 units of 64, and 563,000 are 35,187 of 16.
    const { end } = chunk([0, 1], { maxKbps: 801, bitrateKbps: 801, bufferBits: 563_999 })
    expect(end!.bytes).toBe((12_515 * 64 * 2) / 8 + Math.floor((35_187 * 16 * 0.5) / 8))
  })

  test('a short one saves in its second half only', () => {
    expect(chunk([5, 6], { frameRate: { num: 5, den: 1 } }).buffer?.saving).toEqual({ first: 5, last: 9 })
    expect(chunk([5, 6], { frameRate: { num: 1, den: 1 } }).buffer?.saving).toEqual({ first: 1, last: 1 })
  })
})

test.each(['vbr', 'qvbr'] as const)('%s begins with what the chunk before leaves', (mode) => {
  const others = { end: null, ticks: null, runOut: 0 }
  expect(chunk([5, 8], { mode })).toEqual({ buffer: { initial: 0.4, saving: null }, ...others })
  expect(chunk([0, 5], { mode })).toEqual({ buffer: { initial: null, saving: null }, ...others })
})

test('jobs of one task', () => {
  const { plan, video } = made([0, 1])
  const { range: _range, ...whole } = plan
  expect([rangeBuffer(whole, video), rangeEnd(whole, video), runOutFrames(whole, video.frameRate)]).toEqual([
    null,
    null,
    0,
  ])
})

test('the encoder’s flags', () => {
  const { plan, video } = made([5, 8])
  const params = (buffer: ReturnType<typeof rangeBuffer>): string | undefined => {
    const args = videoEncoderArgs(plan, video, { cores: null, buffer })
    return args[args.indexOf('-x264-params') + 1]
  }
  expect(params(null)).toBe('nal-hrd=cbr:force-cfr=1')
  expect(params(rangeBuffer(plan, video))).toBe('nal-hrd=cbr:force-cfr=1:vbv-init=0.4:zones=125,149,q=51')
})
