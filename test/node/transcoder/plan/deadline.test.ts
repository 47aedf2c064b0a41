import { expect, test } from 'vitest'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { timeLimits } from '../../../../transcoder/plan/estimate/deadline.ts'
import { jobSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const machine = { vcpus: 4, sourceBytes: 1_000_000, outputBytes: 1_000_000 }
const allowed = (durationSeconds: number | null, change: Partial<typeof machine> = {}) => {
  const media = mediaInfo()
  return timeLimits({ ...planJob(jobSpec(), media), durationSeconds }, media, { ...machine, ...change })
}

test('a short source gets a little more than ten minutes, a two-hour one gets hours', () => {
  const [short, film] = [allowed(10), allowed(7200)]
  expect(short!.wallSeconds).toBeGreaterThan(600)
  expect(short!.wallSeconds).toBeLessThan(660)
  expect(short!.cpuSeconds).toBeLessThan(700)
  // 20 times the likely time: 720p to 180p takes 0.16 of a core.
  expect(film!.cpuSeconds).toBeGreaterThan(600 + 7200 * 2)
  expect(film!.wallSeconds).toBeGreaterThan(3600)
  expect(film!.wallSeconds).toBeLessThan(12 * 3600)
})

test('bytes have their time too, and so has a machine of few cores', () => {
  const bytes = allowed(10, { sourceBytes: 250_000_000, outputBytes: 250_000_000 })!.wallSeconds
  expect(bytes - allowed(10)!.wallSeconds).toBeCloseTo(4000 - 16, 0)
  expect(allowed(7200, { vcpus: 1 })!.wallSeconds).toBeGreaterThan(allowed(7200)!.wallSeconds)
  expect(allowed(7200, { vcpus: 1 })!.cpuSeconds).toBe(allowed(7200)!.cpuSeconds)
})

test('frames of stills are decoded, also where nothing is encoded', () => {
  const media = mediaInfo({ durationSeconds: 7200 }, { durationSeconds: 7200 })
  const every = { kind: 'every', seconds: 60 } as const
  const still = { index: 0, times: every, isSingle: false, width: 320, height: 0, output: '' }
  const stills = [{ ...still, format: 'jpeg', quality: 90 } as const]
  // Without an index there is no seeking.
  const alone = planJob(jobSpec({ video: [], audio: [], stills }), { ...media, formats: ['mpegts'] })
  const waveform = { ...alone, extracts: { ...alone.extracts!, frames: null, stills: [] } }
  const [frames, none] = [alone, waveform].map((plan) => timeLimits(plan, media, machine)!.cpuSeconds)
  expect(frames! - none!).toBeGreaterThan(7200)
})

test('without a length there is none', () => {
  expect(allowed(null)).toBeNull()
})
