// In charge of: a job is divided only if the record of each part then fits into a message.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { encodePartRecord, type PartRecord } from '../../../../../transcoder/division/partRecord.ts'
import { fitsInRecords } from '../../../../../transcoder/division/plan/planDivision.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import {
  audioProfile,
  audioStream,
  jobSpec,
  mediaInfo,
  packagingSpec,
  videoProfile,
} from '../../../../support/transcoder/jobSpecs.ts'

const audio = [audioStream({ durationSeconds: 60 })]
const media = mediaInfo({ durationSeconds: 60 }, { durationSeconds: 60, audio })
const packaging = planJob(
  jobSpec({
    packaging: packagingSpec({ hls: true, dash: true, segmentSeconds: 2 }),
    video: [videoProfile({ output: '' })],
    audio: [audioProfile()],
  }),
  media,
).packaging!

test('a chunk of ten minutes is listed, and one of many days is not', () => {
  expect(fitsInRecords(packaging, 600)).toBe(true)
  expect(fitsInRecords(packaging, 1000 * 3600)).toBe(false)
})

test('what is said to fit does', () => {
  let hours = 1
  while (fitsInRecords(packaging, (hours + 10) * 3600)) hours += 10
  const count = (hours * 3600) / 2
  const segments = Array.from({ length: count }, (_, at) => ({
    name: `3-1/video_0.${at + 1}`,
    start: at * 96_256,
    duration: 95_232 + (at % 3) * 1024,
    frames: 94,
    bytes: 30_000 + ((at * 7919) % 10_000),
    sha256: randomBytes(32).toString('hex'),
  }))
  const { gzip } = encodePartRecord({ streams: [{ segments }] } as unknown as PartRecord)
  expect(String(gzip).length).toBeLessThan(MAX_PART_RECORD_BYTES)
  expect(String(gzip).length).toBeGreaterThan(MAX_PART_RECORD_BYTES / 3)
})
