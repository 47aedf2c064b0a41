// In charge of: which part of a video can be copied, where its segments begin, and the reasons of a refusal.
// Not in charge of: whole attempts (pipeline/copies.test.ts).
import { describe, expect, test } from 'vitest'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { copiedStretch } from '../../../../transcoder/plan/copy/copiedStretch.ts'
import { chooseStarts, segmentCandidates } from '../../../../transcoder/plan/copy/videoVerdict.ts'
import type { VideoSurvey } from '../../../../transcoder/plan/model/videoSurvey.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'

/** At 25 frames per second, I P B B in decoding order; a key frame at each of these numbers. */
function survey(keys: readonly number[], frames: number, change: Partial<VideoSurvey> = {}): VideoSurvey {
  const times: number[] = []
  for (const [at, first] of keys.entries()) {
    times.push(first)
    const end = keys[at + 1] ?? frames
    for (let frame = first + 1; frame < end; frame += 3) {
      const anchor = Math.min(frame + 2, end - 1)
      times.push(anchor, ...Array.from({ length: anchor - frame }, (_, b) => frame + b))
    }
  }
  return {
    times: times.map((frame) => frame / 25),
    sizes: times.map(() => 1000),
    keyFrames: [...keys],
    closedKeyFrames: new Set(keys),
    endSeconds: frames / 25,
    parameterSets: 1,
    backwardsAt: null,
    ...change,
  }
}

describe('the part that is copied', () => {
  const source = survey([0, 50, 100], 150)

  test('begins with the key frame before', () => {
    expect(copiedStretch(source, { startSeconds: 3.9, endSeconds: null })).toMatchObject({
      startSeconds: 2,
      endSeconds: null,
    })
  })

  test('ends where no frame refers across', () => {
    const part = copiedStretch(source, { startSeconds: 0, endSeconds: 2.12 })!
    // 53 is a B frame between the anchors 50 and 53, 56.
    expect(Math.round(part.endSeconds! * 25)).toBe(54)
    expect(part.frames.map((frame) => Math.round(source.times[frame]! * 25)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 54 }, (_, frame) => frame),
    )
  })

  test('leaves out frames that are shown before its key frame', () => {
    // Decoding order: 0 1 2, then the key frame 5 with 3 and 4 before it.
    const open = survey([0], 3, { times: [0, 0.04, 0.08, 0.2, 0.12, 0.16, 0.24], keyFrames: [0, 3] })
    expect(copiedStretch(open, { startSeconds: 0.2, endSeconds: null })?.frames).toEqual([3, 6])
  })
})

describe('segments', () => {
  const starts = (keys: number[], frames: number, seconds: number): number[] => {
    const source = survey(keys, frames)
    const part = copiedStretch(source, { startSeconds: 0, endSeconds: null })!
    return chooseStarts(segmentCandidates(source, part, null), seconds, frames / 25).frames
  }

  test.each([
    [[0, 50, 100, 150, 200], 250, 6, [0, 150]],
    [[0, 50, 100, 150, 200], 250, 4, [0, 100, 200]],
    [[0, 10, 20, 150], 300, 6, [0, 150]],
    [[0, 149, 152], 300, 6, [0, 149]],
  ])('key frames %j of %d frames, %d s', (keys, frames, seconds, wanted) => {
    expect(starts(keys, frames, seconds)).toEqual(wanted)
  })
})

describe('a refusal states its reason', () => {
  const spec = jobSpec({
    packaging: packagingSpec({ hls: true }),
    container: 'hls',
    video: [videoProfile({ copy: true, output: '' })],
    audio: [],
  })
  const plan = (found: VideoSurvey | undefined, video: object = {}): (() => unknown) => {
    const media = mediaInfo({ ...video, ...(found === undefined ? {} : { survey: found }) })
    return () => planJob(spec, { ...media, audio: [] })
  }

  test.each<[string, VideoSurvey | undefined, object, RegExp]>([
    [
      'GOPs that are too long',
      survey([0], 500),
      {},
      /segment at 0 s would last 20 s, .* 10 s at most: it has one GOP of 20 s/,
    ],
    ['open GOPs', survey([0, 50], 300, { closedKeyFrames: new Set() }), {}, /none of its 2 key frames begins one/],
    ['another codec', survey([0, 50], 100), { codec: 'vp9' }, /its codec is vp9; h264, hevc, mpeg2video can be copied/],
    ['mpeg2 in segments', survey([0, 50], 100), { codec: 'mpeg2video' }, /cannot be carried in cmaf segments/],
    ['rotation', survey([0, 50], 100), { rotation: 90 }, /rotated by 90°/],
    ['timestamps that go back', survey([0, 50], 100, { backwardsAt: 1.5 }), {}, /timestamps go back at 1.5 s/],
    ['several parameter sets', survey([0, 50], 100, { parameterSets: 2 }), {}, /2 different sequence parameter sets/],
    ['packets that could not be read', undefined, {}, /could not be listed/],
  ])('%s', (_what, found, video, message) => {
    expect(plan(found, video)).toThrow(message)
  })
})
