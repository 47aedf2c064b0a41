// In charge of: a job is divided only if the record of each part then fits into a message.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { encodePartRecord } from '../../../../../transcoder/division/recordEncoding.ts'
import type { PartRecord } from '../../../../../transcoder/division/partRecord.ts'
import { fitsInRecords } from '../../../../../transcoder/plan/division/recordSize.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import {
  audioProfile,
  audioStream,
  jobSpec,
  mediaInfo,
  packagingSpec,
  videoProfile,
} from '../../../../support/transcoder/jobSpecs.ts'

function packagingOf(tracks: number, gopSeconds = 2): PackagingPlan {
  const audio = [audioStream({ durationSeconds: 60 })]
  const media = mediaInfo({ durationSeconds: 60 }, { durationSeconds: 60, audio })
  const packaging = packagingSpec({ hls: true, dash: true, segmentSeconds: 2 })
  const spec = jobSpec({ packaging, gopSeconds, video: [videoProfile({ output: '' })], audio: [audioProfile()] })
  const planned = planJob(spec, media).packaging!
  const [video, sound] = planned.renditions
  return { ...planned, renditions: [video!, ...Array.from({ length: tracks }, () => sound!)] }
}

test('a day of eight tracks is too much for one record, and a film is not', () => {
  expect(fitsInRecords(packagingOf(8), 24 * 3600, 60)).toBe(false)
  expect(fitsInRecords(packagingOf(8), 3 * 3600, 60)).toBe(true)
  expect(fitsInRecords(packagingOf(1), 24 * 3600, 60)).toBe(true)
  expect(fitsInRecords(packagingOf(1), null, 60)).toBe(true)
})

test('the chunks are limited too, with their key frames', () => {
  expect(fitsInRecords(packagingOf(1), 3600, 600)).toBe(true)
  expect(fitsInRecords(packagingOf(1, 0.04), 24 * 3600, 60 * 3600)).toBe(false)
  expect(fitsInRecords(packagingOf(1), 24 * 3600, 60 * 3600)).toBe(true)
})

test('what is said to fit does', () => {
  const packaging = packagingOf(1)
  let hours = 1
  while (fitsInRecords(packaging, (hours + 10) * 3600, 60)) hours += 10
  const count = (hours * 3600) / 2
  const segments = Array.from({ length: count }, (_, at) => ({
    uri: `0f8fad5b-d9cb-469f-a165-70867728950e-2-1/${String(at + 1).padStart(5, '0')}.m4s`,
    start: at * 96_256,
    duration: 95_232 + (at % 3) * 1024,
    frames: 94,
    bytes: 30_000 + ((at * 7919) % 10_000),
    sha256: randomBytes(32).toString('hex'),
    keys: [{ start: at * 96_256, offset: 0, bytes: 300 + ((at * 104_729) % 600) }],
  }))
  const { gzip } = encodePartRecord({ streams: [{ segments }] } as unknown as PartRecord)
  expect(String(gzip).length).toBeLessThan(MAX_PART_RECORD_BYTES)
  expect(String(gzip).length).toBeGreaterThan(MAX_PART_RECORD_BYTES / 2)
})
