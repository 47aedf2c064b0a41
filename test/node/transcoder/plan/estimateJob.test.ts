import { expect, test } from 'vitest'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { estimateJob } from '../../../../transcoder/plan/estimate/estimateJob.ts'
import type { Pricing } from '../../../../transcoder/plan/estimate/costModel.ts'
import { listMachine, listPrices } from '../../../../transcoder/plan/estimate/costConstants.ts'
import { readPricing } from '../../../../transcoder/settings.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo } from '../../../../transcoder/plan/model/mediaInfo.ts'
import {
  jobSpec,
  packagingSpec,
  videoProfile,
  audioStream,
  mediaInfo,
  audioProfile,
} from '../../../support/transcoder/jobSpecs.ts'

const pricing: Pricing = { machine: { vcpus: 4, ...listMachine }, prices: listPrices }
const estimate = (spec: JobSpec, media: MediaInfo = mediaInfo(), price = pricing) =>
  estimateJob(spec, { media, found: null, sizeBytes: 2_000_000 }, planJob(spec, media), price)

test('describes the probed source', () => {
  const media = mediaInfo(
    { rotation: 90, colorTransfer: 'smpte2084', fieldOrder: 'tt', captionChannels: ['CC1'], closedCaptions: true },
    {
      audio: [audioStream({ language: 'eng' })],
      other: [{ index: 2, id: null, type: 'subtitle', codec: 'dvb_subtitle', language: 'swe' }],
    },
  )
  expect(estimate(jobSpec(), media).probe).toMatchObject({
    formats: ['mov', 'mp4'],
    duration_seconds: 10,
    size_bytes: 1_000_000,
    bitrate_kbps: 800,
    video: {
      codec: 'h264',
      width: 1280,
      height: 720,
      rotation: 90,
      frame_rate: '25/1',
      scan: 'interlaced',
      field_order: 'tt',
      hdr: true,
      captions: ['CC1'],
      has_captions: true,
    },
    audio: [{ source_stream: 1, codec: 'aac', channels: 2, language: 'eng' }],
    cues: null,
    other: [{ type: 'subtitle', codec: 'dvb_subtitle', language: 'swe' }],
  })
})

test('describes each output in sentences and in numbers', () => {
  const { plan, warnings } = estimate(jobSpec({ gopSeconds: 2, audioDirectory: 'sound' }))
  expect(plan.outputs).toHaveLength(2)
  expect(plan.outputs[0]!.description).toEqual([
    '320 × 180, samples 1:1, 25 frames per second, progressive.',
    'h.264 (preset veryfast), 500 kbps on average with peaks of 750, in a buffer of 1.5 Mbit.',
    'Closed GOPs of 50 frames (2 s), 2 B-frames between anchors.',
    'Audio: aac stereo at 128 kbps, 48000 Hz, from source stream 1.',
    'Captions inside the video are kept if the source has any.',
  ])
  expect(plan.outputs[0]).toMatchObject({
    path: 'out_0.mp4',
    profile: 0,
    video: { frame_rate: '25/1', gop_frames: 50, gop_seconds: 2, b_frames: 2, bitrate_mode: 'vbr', max_kbps: 750 },
    audio: [{ codec: 'aac', source_stream: 1 }],
  })
  expect(plan.outputs[1]).toMatchObject({ profile: null, video: null, audio: [{ codec: 'aac' }] })
  expect(warnings).toEqual(planJob(jobSpec({ gopSeconds: 2, audioDirectory: 'sound' }), mediaInfo()).warnings)
})

test('more work is predicted to take longer: length, size, preset, codec, renditions', () => {
  const cpu = (spec: JobSpec, media?: MediaInfo) => estimate(spec, media).predicted.cpu_seconds!.likely
  const plain = cpu(jobSpec())
  expect(cpu(jobSpec(), mediaInfo({ durationSeconds: 100 }, { durationSeconds: 100 }))).toBeGreaterThan(4 * plain)
  expect(cpu(jobSpec({ quality: 'better' }))).toBeGreaterThan(plain)
  expect(cpu(jobSpec({ quality: 'best' }))).toBeGreaterThan(cpu(jobSpec({ quality: 'better' })))
  expect(cpu(jobSpec({ videoCodec: 'hevc' }))).toBeGreaterThan(plain)
  expect(
    cpu(jobSpec({ video: [videoProfile(), videoProfile({ index: 1, height: 360, width: 640 })] })),
  ).toBeGreaterThan(plain)
})

test('low, likely and high are ordered, and totals are sums of their parts', () => {
  const { plan, predicted } = estimate(
    jobSpec({
      video: [videoProfile(), videoProfile({ index: 1, mode: 'qvbr' })],
      audioDirectory: 'a',
      audio: [audioProfile()],
    }),
  )
  for (const range of [predicted.wall_seconds!, predicted.cpu_seconds!, predicted.output_bytes!, predicted.cost_usd!]) {
    expect(range.low).toBeLessThanOrEqual(range.likely)
    expect(range.likely).toBeLessThanOrEqual(range.high)
    expect(range.low).toBeGreaterThan(0)
  }
  const sum = plan.outputs.reduce((total, output) => total + output.output_bytes!.likely, 0)
  expect(predicted.output_bytes!.likely).toBe(sum)
  expect(predicted.store_writes).toBe(3 * plan.outputs.length)
})

test('the price is that of the table, which a setting changes', () => {
  const { cpu_seconds: cpu, wall_seconds: wall, cost_usd: cost, store_writes: writes } = estimate(jobSpec()).predicted
  const standing = 12 * 0.0000025 + 20 * 0.00000007
  expect(cost!.likely).toBeCloseTo(cpu!.likely * 0.00002 + wall!.likely * standing + writes! * 4.5e-6, 5)
  const own = readPricing('{"vcpu_second": 1, "memory_gib": 2}', 3)
  expect(own).toEqual({ machine: { vcpus: 3, memory_gib: 2, disk_gb: 20 }, prices: { ...listPrices, vcpu_second: 1 } })
  expect(estimate(jobSpec(), mediaInfo(), own).predicted.cost_usd!.likely).toBeGreaterThan(1)
  for (const text of ['[]', '{"vcpu": 1}', '{"vcpu_second": "1"}', '{"vcpu_second": -1}', 'x'])
    expect(() => readPricing(text, 1), text).toThrow()
})

test('a source of unknown duration has a plan and no predicted cost', () => {
  const { plan, predicted } = estimate(jobSpec(), mediaInfo({ durationSeconds: null }, { durationSeconds: null }))
  expect(predicted).toMatchObject({ wall_seconds: null, cpu_seconds: null, output_bytes: null, cost_usd: null })
  expect(plan.outputs[0]!.output_bytes).toBeNull()
})

test('segmented output is described by rendition: directory, video or audio, formats, bytes', () => {
  const packaging = packagingSpec({ hls: true, dash: true, preferTransportStream: true, tar: true })
  const spec = jobSpec({ packaging, outputDirectory: 'out', video: [videoProfile({ output: 'hd.mp4' })] })
  const { plan, predicted } = estimate(spec)
  expect(plan.outputs.map(({ path, profile, content_type }) => [path, profile, content_type])).toEqual([
    ['out/hd', 0, 'video/mp4'],
    ['out/audio_0', null, 'audio/mp4'],
    ['out/out.tar', null, 'application/x-tar'],
  ])
  expect(plan.outputs[0]!.description.at(-1)).toBe('Segments of 6 s as CMAF and transport streams.')
  expect(plan.outputs[1]!.description[0]).toBe('Audio: aac stereo at 128 kbps, 48000 Hz, from source stream 1.')
  expect(plan.outputs[0]!.description).not.toContain('No audio.')
  const [video, audio, tar] = plan.outputs.map(({ output_bytes: bytes }) => bytes!.likely)
  expect(tar).toBe(video! + audio!)
  // Twice the video, and the audio in one of the two.
  expect(video! / ((10 * (2 * 500 + 128) * 1000) / 8)).toBeCloseTo(1, 1)
  const one = estimate(jobSpec()).predicted
  expect(predicted.store_writes!).toBeGreaterThan(one.store_writes!)
  // The video is encoded once; the second output costs only an audio encode.
  expect(predicted.cpu_seconds!.likely / one.cpu_seconds!.likely).toBeLessThan(1.5)
})

test('renditions with audio apart name it, those without say so', () => {
  const packaging = packagingSpec({ dash: true })
  const last = (spec: JobSpec) => estimate(spec).plan.outputs[0]!.description
  expect(last(jobSpec({ packaging }))).toContain('Audio is separate: audio_0.')
  expect(last(jobSpec({ packaging, audio: [] }))).toContain('No audio.')
})
