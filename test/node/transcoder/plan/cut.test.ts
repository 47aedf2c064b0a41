// start_seconds and end_seconds: timecodes, the grid of frames, errors, and what ffmpeg is asked to read.
import { describe, expect, test } from 'vitest'
import { parseCutTime } from '#contract/job/cutTime.ts'
import { readCut } from '../../../../transcoder/plan/argv/cutArgs.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import type { MediaInfo, VideoStream } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { jobSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

function planned(
  start: string | number,
  end: string | number | null,
  video: Partial<VideoStream> = {},
  more: Partial<MediaInfo> = {},
) {
  const cut = { start: parseCutTime(start), end: end === null ? null : parseCutTime(end) }
  const long = { durationSeconds: 7200, startSeconds: 0 }
  const media = mediaInfo({ ...long, ...video })
  const audio = media.audio.map((stream) => ({ ...stream, ...long }))
  return planJob(jobSpec({ cut }), { ...media, ...long, audio, ...more })
}
const NTSC = { frameRate: { num: 30_000, den: 1001 } }

describe('the frame at a time', () => {
  test.each([
    ['12', 300],
    [12.019, 300],
    [12.021, 301],
    ['00:01:30', 2250],
    ['00:01:30.480', 2262],
    ['00:01:30:12', 2262],
    ['1:00:00:00', 90_000],
  ])('%s at 25 frames per second is frame %d', (time, frame) => {
    expect(planned(time, null).cut?.frames?.start).toBe(frame)
  })
  test.each([
    // SMPTE ST 12-1: numbers 0 and 1 are left out at the beginning of each minute, except each tenth.
    ['00:00:59;29', 1799],
    ['00:01:00;02', 1800],
    ['00:09:59;29', 17_981],
    ['00:10:00;00', 17_982],
    ['01:00:00;00', 107_892],
    ['01:00:00:00', 108_000],
  ])('%s at 29.97 is frame %d', (time, frame) => {
    expect(planned(time, null, NTSC).cut?.frames?.start).toBe(frame)
  })
  test('59.94 drops four', () => {
    const video = { frameRate: { num: 60_000, den: 1001 } }
    expect(planned('00:01:00;04', null, video).cut?.frames?.start).toBe(3600)
  })
})

describe('errors', () => {
  const error = (...args: Parameters<typeof planned>) => {
    try {
      planned(...args)
    } catch (thrown) {
      return thrown
    }
    return null
  }
  test.each([
    ['00:00:10:25', {}, 'frames 0 to 24'],
    ['00:00:10;12', {}, '29.97 and 59.94'],
    ['00:01:00;01', NTSC, 'leaves out frame 1'],
  ])('%s', (time, video, text) => {
    expect(error(time, null, video)).toMatchObject({
      code: 'unsupported_combination',
      field: 'start_seconds',
      message: expect.stringContaining(text),
    })
  })
  test('a part that begins after the end, or has no frame', () => {
    expect(error(7200, null)).toMatchObject({ code: 'cut_outside_source', field: 'start_seconds' })
    expect(error(10, 10.001)).toMatchObject({ code: 'cut_outside_source', field: 'end_seconds' })
  })
})

describe('the plan of a part', () => {
  test('has its duration, and warns of an end after the source', () => {
    const plan = planned(10, 26)
    expect(plan.durationSeconds).toBeCloseTo(16, 6)
    expect(plan.outputs[0]?.durationSeconds).toBeCloseTo(16, 6)
    const late = planned(7190, 9000)
    expect(late.durationSeconds).toBeCloseTo(10, 6)
    expect(late.warnings).toEqual([expect.objectContaining({ code: 'end_after_source', field: 'end_seconds' })])
  })
  test('is found by the index of the container, with a run-in of at least two seconds', () => {
    const plan = planned(100, 110)
    const { seek, cut } = readCut(plan, true)
    // Frame 2,500 is frame 100 of what ffmpeg decodes from frame 2,400 on.
    expect(seek).toEqual(['-noaccurate_seek', '-ss', '96.000000'])
    expect(cut?.frames).toMatchObject({ start: 100, end: 350 })
    expect(cut?.startSeconds).toBeCloseTo(4, 9)
  })
  test('is decoded from the beginning of a transport stream, and of a source without ranges', () => {
    const stream = planned(100, 110, {}, { formats: ['mpegts'] })
    expect(readCut(stream, true)).toMatchObject({ seek: null, cut: { frames: { start: 2500 } } })
    expect(readCut(planned(100, 110), false).seek).toBeNull()
  })
})
