import { describe, expect, test } from 'vitest'
import { ffmpegArgsOf } from '../../../support/transcoder/ffmpegArgsOf.ts'
import type { SourceCues } from '../../../../transcoder/plan/streams/cuePlan.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { timelineOf } from '../../../../transcoder/plan/streams/outputTiming.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

const S = 90_000
const cues = (change: Partial<SourceCues> = {}): SourceCues => ({
  pids: [600],
  cueStreamType: 1,
  splicePoints: [3 * S],
  schedules: 0,
  damaged: 0,
  ...change,
})
const wanted = (change: Parameters<typeof jobSpec>[0] = {}) =>
  jobSpec({ container: 'ts', scte35Passthrough: true, ...change })
const codes = (plan: ReturnType<typeof planJob>) => plan.warnings.map(({ code }) => code)

describe('key frames at splice points', () => {
  const media = (num: number, den: number) => mediaInfo({ frameRate: { num, den } })
  test.each([
    ['25 per second', media(25, 1), '1x', [75, 126]],
    ['half of it', media(25, 1), '1/2x', [38, 63]],
    ['twice', media(25, 1), '2x', [150, 252]],
    ['29.97', media(30000, 1001), '1x', [90, 151]],
  ] as const)('%s', (_name, from, frameRateFactor, frames) => {
    // Unsorted, duplicated, at the first frame and before it.
    const splicePoints = [Math.round(5.04 * S), 3 * S, 3 * S, 0, -S]
    const plan = planJob(wanted({ video: [videoProfile({ frameRateFactor })] }), from, { cues: cues({ splicePoints }) })
    expect(plan.outputs[0]?.video.spliceFrames).toEqual(frames)
  })

  test.each(['h264', 'hevc', 'mpeg2'] as const)('%s: the grid and the points in one expression', (videoCodec) => {
    const splicePoints = [75, 90, 126].map((frame) => frame * 3600)
    const plan = planJob(wanted({ videoCodec }), mediaInfo(), { cues: cues({ splicePoints }) })
    const args = ffmpegArgsOf(plan, { input: 'http://in', inputFlags: [], outputs: ['pipe:3'], threads: 0 })
    expect(args[args.indexOf('-force_key_frames') + 1]).toBe(
      'expr:eq(mod(n,25),0)+if(lt(n,90),eq(n,75),if(lt(n,126),eq(n,90),eq(n,126)))',
    )
    expect(args.at(-1)).toBe('pipe:3')
    // mpeg2 has only one kind of intra picture.
    expect(args.includes('-forced-idr')).toBe(videoCodec !== 'mpeg2')
  })

  test('more points than an argument holds: the first ones, and a warning', () => {
    const splicePoints = Array.from({ length: 3000 }, (_, index) => (index + 1) * S)
    const plan = planJob(wanted(), mediaInfo(), { cues: cues({ splicePoints }) })
    expect(plan.outputs[0]?.video.spliceFrames).toHaveLength(2000)
    expect(codes(plan)).toEqual(['splice_points_limited'])
    const args = ffmpegArgsOf(plan, { input: 'http://in', inputFlags: [], outputs: ['pipe:3'], threads: 0 })
    expect(Math.max(...args.map((arg) => arg.length))).toBeLessThan(128 * 1024)
  })
})

describe('what is said of cues', () => {
  test.each([
    ['none found', null, ['no_cues']],
    ['some', cues(), []],
    ['damaged ones', cues({ damaged: 2 }), ['cues_damaged']],
    ['a schedule', cues({ schedules: 1 }), ['splice_schedule']],
    ['two PIDs', cues({ pids: [600, 601] }), ['cue_pids_merged']],
  ])('%s', (_name, found, expected) => {
    expect(codes(planJob(wanted(), mediaInfo(), { cues: found }))).toEqual(expected)
  })
  test('a stream that is carried is not called left out', () => {
    const media = mediaInfo({}, { other: [{ index: 2, id: 600, type: 'data', codec: 'scte_35', language: null }] })
    expect(codes(planJob(wanted(), media, { cues: cues() }))).toEqual([])
    expect(codes(planJob(wanted({ scte35Passthrough: false }), media))).toEqual(['scte35_left_out'])
  })
  test('not asked for, or in a file that cannot carry them: no cues, no key frames, no warning of the source', () => {
    for (const spec of [wanted({ scte35Passthrough: false }), wanted({ container: 'mp4' })]) {
      const plan = planJob(spec, mediaInfo(), { cues: cues() })
      expect([plan.cues, plan.outputs[0]?.video.spliceFrames, codes(plan)]).toEqual([null, [], []])
    }
  })
})

describe('the PID', () => {
  const plan = (cuePid: number | null, found = cues()) =>
    planJob(
      wanted({
        scte35Pid: cuePid,
        video: [videoProfile({ audioProfiles: [0, 1] })],
        audio: [audioProfile(), audioProfile({ index: 1 })],
      }),
      mediaInfo({}, { audio: [audioStream()] }),
      { cues: found },
    )
  test.each([
    [null, 600],
    [32, 32],
    [8190, 8190],
    [0x103, 0x103],
  ])('%s gives %i', (cuePid, pid) => expect(plan(cuePid).cues).toEqual({ pid, streamType: 1 }))
  test.each([0x100, 0x101, 0x102, 0x1000])('%i is in use, and the error lists what is', (cuePid) => {
    expect(() => plan(cuePid)).toThrow(
      `PID ${cuePid}: the output uses it. Set scte35_pid_remap to a PID other than 0, 16, 17`,
    )
  })
  test('the source’s own cue PID may collide, too', () => {
    expect(() => plan(null, cues({ pids: [0x101] }))).toThrow('PID 257')
  })
})

test('a constant mux rate includes bandwidth for cues', () => {
  const spec = (passCues: boolean) => wanted({ scte35Passthrough: passCues, video: [videoProfile({ mode: 'cbr' })] })
  const rate = (passCues: boolean) =>
    planJob(spec(passCues), mediaInfo(), { cues: cues() }).outputs[0]?.muxRateKbps ?? 0
  expect(rate(true) - rate(false)).toBe(40)
})

describe('where the output begins on the source’s clock', () => {
  const at = (video: number, file: number, formats: string[], clockFromUsedStreams: boolean, audio = 1.4) => {
    const media = mediaInfo(
      { startSeconds: video },
      { startSeconds: file, formats, audio: [audioStream({ startSeconds: audio })] },
    )
    const { startSeconds, offsets } = timelineOf(wanted(), media, { clockFromUsedStreams })
    return [startSeconds, offsets.all]
  }
  test.each([
    [1.48, 1.4, 1.48, 0.08],
    // Content that starts late: the first frame is held from the start of the file.
    [3.4, 1.4, 1.4, 0],
    [-2, -2, -2, 0],
  ])('video at %f in a file at %f: at %f, moved by %f', (video, file, start, moved) => {
    expect(at(video, file, ['mov'], true)).toEqual([start, moved])
    expect(at(video, file, ['mpegts'], false)).toEqual([start, moved])
  })
  test('cues that begin earlier than all that is used are taken off, by ffmpeg 6 itself', () => {
    expect(at(1.48, 1.1, ['mpegts'], false)).toEqual([1.48, 0.38])
    expect(at(1.48, 1.1, ['mpegts'], true)).toEqual([1.48, 0.08])
    expect(at(1.48, 1.1, ['mov'], true)).toEqual([1.48, 0.38])
  })
})
