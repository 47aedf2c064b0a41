// The plans of the parts of a divided job, and their arguments; no ffmpeg.
import { describe, expect, test } from 'vitest'
import { ffmpegArgsOf } from '../../../../support/transcoder/ffmpegArgsOf.ts'
import { skipsVideo, secondsOfRange } from '../../../../../transcoder/plan/model/encodedRange.ts'
import { partsOf, planOfPart, type PartPlan } from '../../../../../transcoder/division/plan/partPlan.ts'
import type { ExtractsPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedFiles } from '../../../../../transcoder/plan/model/plannedFiles.ts'
import { extractPipes, plannedPipes } from '../../../../../transcoder/plan/model/plannedPipes.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

const DIVISION = { chunks: [0, 10, 25] }
const SECONDS = 200

function segmented(videoOffset = 0): Plan {
  const packaging = packagingSpec({ hls: true, segmentSeconds: 4, separateAudio: true, thumbnails: true })
  const video = [0, 1].map((index) => videoProfile({ index, output: '' }))
  const media = mediaInfo({ durationSeconds: SECONDS, startSeconds: videoOffset }, { durationSeconds: SECONDS })
  return { ...planJob(jobSpec({ packaging, video }), media), division: DIVISION }
}

const CHUNK: PartPlan = { kind: 'chunk', chunk: 1, from: 10, to: 25 }
const chunkOf = (plan: Plan): Plan => planOfPart(plan, CHUNK)

function argsOf(plan: Plan): string[] {
  const files = plannedFiles(plan).map(({ path }) => `/${path}`)
  const outputs = [...files, ...plannedPipes(plan).map((_pipe, index) => `pipe:${3 + index}`)]
  return ffmpegArgsOf(plan, { input: 'http://in', inputFlags: [], outputs, threads: 0, seekable: true })
}

const valueOf = (args: readonly string[], flag: string): string | undefined => args[args.indexOf(flag) + 1]

test('the last chunk is the first part, the second is the rest', () => {
  expect(partsOf(DIVISION)).toEqual([
    { kind: 'chunk', chunk: 2, from: 25, to: null },
    { kind: 'rest' },
    { kind: 'chunk', chunk: 0, from: 0, to: 10 },
    CHUNK,
  ])
})

test('a chunk makes the video, and the rest everything else: the audio as files that are no outputs', () => {
  const plan = segmented()
  const rest = planOfPart(plan, { kind: 'rest' })
  expect(plannedPipes(chunkOf(plan)).map(({ kind }) => kind)).toEqual(['rendition', 'rendition'])
  expect(plannedPipes(rest).map(({ kind }) => kind)).toEqual(['thumbnails', 'poster'])
  expect(plannedFiles(rest).map(({ path, isIntermediate }) => [path, isIntermediate])).toEqual([['audio_0', true]])
})

test('seconds of the parts', () => {
  const plan = segmented()
  const seconds = partsOf(DIVISION).map((part) => secondsOfRange(planOfPart(plan, part)))
  expect(seconds).toEqual([100, SECONDS, 40, 60])
  expect(secondsOfRange(plan)).toBe(SECONDS)
})

describe('the arguments of a chunk', () => {
  test('begin 2 s before it on the clock of the whole job', () => {
    const args = argsOf(chunkOf(segmented()))
    expect([valueOf(args, '-ss'), valueOf(args, '-itsoffset')]).toEqual(['38.000000', '38'])
    expect(args).toContain('-noaccurate_seek')
    // The whole job moves the clock by 20 ms: the place lies as much later.
    const late = argsOf(chunkOf(segmented(0.02)))
    expect([valueOf(late, '-ss'), valueOf(late, '-itsoffset')]).toEqual(['38.020000', '38'])
  })

  test('do not seek near the beginning, nor where the source cannot be read at any place', () => {
    const first = planOfPart(segmented(), { kind: 'chunk', chunk: 0, from: 0, to: 10 })
    expect(argsOf(first)).not.toContain('-ss')
    const outputs = ['pipe:3', 'pipe:4']
    const args = ffmpegArgsOf(chunkOf(segmented()), { input: 'http://in', inputFlags: [], outputs, threads: 0 })
    expect(args).not.toContain('-ss')
  })

  test('read no audio', () => {
    const args = argsOf(chunkOf(segmented()))
    expect(args.filter((arg) => /:a:|anull|aresample|-c:a/.test(arg))).toEqual([])
  })

  test('force key frames at the splice points within it, counted from its beginning', () => {
    const plan = segmented()
    const packaging = plan.packaging!
    const renditions = packaging.renditions.map((rendition) =>
      rendition.video === null
        ? rendition
        : { ...rendition, video: { ...rendition.video, spliceFrames: [990, 1010, 1300, 2499, 2530] } },
    )
    const spliced = { ...plan, packaging: { ...packaging, renditions } }
    // 25 frames a second, from 40 to 100 s.
    const keys = valueOf(argsOf(chunkOf(spliced)), '-force_key_frames')!
    expect([...keys.matchAll(/eq\(n,(\d+)\)/g)].map(([, frame]) => Number(frame))).toEqual([10, 300, 1499])
    const without = planOfPart(spliced, { kind: 'chunk', chunk: 0, from: 0, to: 5 })
    expect(argsOf(without)).not.toContain('-force_key_frames')
  })
})

test('the rest encodes no video and decodes it for thumbnails only', () => {
  const args = argsOf(planOfPart(segmented(), { kind: 'rest' }))
  expect(args).not.toContain('libx264')
  expect(args.filter((arg) => arg === 'mjpeg')).toHaveLength(2)
})

describe('stills, the preview and the waveform', () => {
  const still = { index: 0, isSingle: false, width: 320, height: 0, format: 'jpeg', quality: 90, output: '' } as const
  const stills = [{ ...still, times: { kind: 'every', seconds: 10 } as const }]
  const rest = (change: Partial<ExtractsPlan> = {}): Plan => {
    const packaging = packagingSpec({ hls: true, segmentSeconds: 4, separateAudio: true })
    const media = mediaInfo({ durationSeconds: SECONDS }, { durationSeconds: SECONDS })
    const plan = planJob(jobSpec({ packaging, video: [videoProfile({ output: '' })], stills }), media)
    const extracts = { ...plan.extracts!, ...change }
    return planOfPart({ ...plan, division: DIVISION, extracts }, { kind: 'rest' })
  }

  test('are made by the rest, and by no chunk', () => {
    const { extracts } = rest()
    expect(extracts?.stills[0]?.images).toHaveLength(SECONDS / 10)
    expect(extractPipes(rest())).toMatchObject([{ kind: 'still', element: 0 }])
    expect(extractPipes(chunkOf({ ...segmented(), extracts: extracts! }))).toEqual([])
  })

  test('the rest reads the video for frames, and none for a waveform', () => {
    expect(skipsVideo(rest())).toBe(false)
    const waveform = {} as NonNullable<ExtractsPlan['waveform']>
    expect(skipsVideo(rest({ frames: null, stills: [], waveform }))).toBe(true)
  })
})
