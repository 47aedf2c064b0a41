// In charge of: which records of parts make one video, and which are refused or left to one task.
// Not in charge of: encoding and copying the parts (test/node/transcoder/division/dividedOutput.test.ts).
import { describe, expect, test } from 'vitest'
import type { Plan } from '#contract/task/plan/plan.ts'
import { TaskError } from '#contract/taskError.ts'
import { joinChunks, sortParts, videoSeconds } from '../../../../transcoder/division/joinChunks.ts'
import { joinWarnings } from '../../../../transcoder/division/joinedBuffer.ts'
import {
  type ChunkRecord,
  type PartRecord,
  type StreamRecord,
  decodePartRecord,
  encodePartRecord,
} from '../../../../transcoder/division/partRecord.ts'
import { UnlikeChunks } from '../../../../transcoder/division/unlikeChunks.ts'
import { encodedSegments } from '../../../../transcoder/division/plan/encodedSegments.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'

/** Two segments of 50 frames in each of three chunks, and a last one of 20 frames. */
const CHUNKS = [0, 2, 4]
const TICKS = 512
const video = [videoProfile({ output: '' }), videoProfile({ index: 1, output: '', width: 160, height: 90 })]
const plan: Plan = {
  ...planJob(jobSpec({ packaging: packagingSpec({ hls: true, dash: true, segmentSeconds: 2 }), video }), mediaInfo()),
  division: { chunks: CHUNKS },
}
const encoded = encodedSegments(plan)

const none = { count: 0, seconds: [] }
const common = {
  version: 1 as const,
  damage: { packets: none, frames: none, messages: { ...none, first: '' }, gaps: [], total: 0 },
  warnings: [],
}

function streamOf(rendition: number, chunk: number): StreamRecord {
  const numbers = [chunk * 2, chunk * 2 + 1, ...(chunk === 2 ? [6] : [])]
  return {
    rendition,
    before: { segments: chunk * 2, frames: chunk * 100 },
    init: { name: `${chunk}-1/video_${rendition}.init`, bytes: 700, sha256: 'aa' },
    segments: numbers.map((number) => ({
      name: `${chunk}-1/video_${rendition}.${number + 1}`,
      bytes: 1000 + number,
      sha256: String(number),
      start: number * 50 * TICKS,
      duration: (number === 6 ? 20 : 50) * TICKS,
      frames: number === 6 ? 20 : 50,
    })),
    timescale: 25 * TICKS,
    codecs: ['avc1.64001f'],
  }
}

const chunkOf = (chunk: number): ChunkRecord => ({
  kind: 'chunk',
  ...common,
  chunk,
  streams: [streamOf(0, chunk), streamOf(1, chunk)],
})
const rest: PartRecord = {
  kind: 'rest',
  ...common,
  objects: [],
  captions: { channels: [], isOverLimit: false },
  subtitles: [],
  secondsBefore: 0,
  pictures: null,
  audioFileSeconds: [],
  sourceBytes: 7,
  tracks: [{ name: '2-1/audio_0', bytes: 5, sha256: 'bb' }],
}
/** In the order of the parts, each as it comes back from the service. */
const records = [chunkOf(2), rest, chunkOf(0), chunkOf(1)].map((record) =>
  decodePartRecord(JSON.parse(JSON.stringify(encodePartRecord(record)))),
)

const join = (changed: readonly PartRecord[] = records, whole = encoded) =>
  joinChunks(whole, sortParts(plan, changed).chunks)

function change(at: number, changes: Partial<StreamRecord>): PartRecord[] {
  const record = records[at] as ChunkRecord
  const [first, ...more] = record.streams
  return records.with(at, { ...record, streams: [{ ...first!, ...changes }, ...more] })
}

test('each rendition is the first header, and all segments in their order', () => {
  expect(join().map((objects) => objects.map(({ name }) => name))).toEqual(
    [0, 1].map((at) => [
      `0-1/video_${at}.init`,
      ...[1, 2].map((number) => `0-1/video_${at}.${number}`),
      ...[3, 4].map((number) => `1-1/video_${at}.${number}`),
      ...[5, 6, 7].map((number) => `2-1/video_${at}.${number}`),
    ]),
  )
  expect(videoSeconds(records[0]!)).toBe(12.8)
})

test.each([
  { init: { name: 'x', bytes: 1, sha256: 'ab' } },
  { timescale: 7 },
  { codecs: ['avc1.640015'] },
  { overrun: 1 },
])('other parameters of one chunk, or too many bytes, are for one task: %o', (changes) => {
  expect(() => join(change(0, changes))).toThrow(UnlikeChunks)
})

describe('chunks that exceed the rate together', () => {
  const bits = encoded.packaging!.renditions[0]!.video!.bufferBits
  /** A chunk whose encoder began with a full buffer, and used it. */
  const demand = { needed: 0.9 * bits, gain: -bits / 2, ceiling: bits / 2, shortage: 0 }
  const greedy = records.map((record) =>
    record.kind === 'rest' ? record : { ...record, streams: record.streams.map((each) => ({ ...each, demand })) },
  )

  test('are kept, with a warning', () => {
    const { chunks } = sortParts(plan, greedy)
    expect(() => joinChunks(encoded, chunks)).not.toThrow()
    expect(joinWarnings(encoded, chunks)).toMatchObject([
      { code: 'access_units_late', message: expect.stringContaining('(video_0: ') },
    ])
  })

  test('are for one task at a constant rate', () => {
    const renditions = encoded.packaging!.renditions.map((each) => ({
      ...each,
      video: { ...each.video!, mode: 'cbr' as const },
    }))
    const constant: Plan = { ...encoded, packaging: { ...encoded.packaging!, renditions } }
    expect(() => join(greedy, constant)).toThrow(UnlikeChunks)
  })
})

const [last, , first] = records as [ChunkRecord, PartRecord, ChunkRecord]
test.each<[string, PartRecord[], RegExp]>([
  ['a missing chunk', records.slice(0, -1), /3 chunks, and records of 2/],
  ['a chunk twice', [...records, last], /records of 4/],
  ['no rest', records.filter(({ kind }) => kind === 'chunk'), /3 chunks/],
  [
    'a lost segment',
    change(2, { segments: first.streams[0]!.segments.slice(1) }),
    /video_0 has 50 frames before a part that begins with frame 100/,
  ],
  ['a missing rendition', records.with(0, { ...last, streams: last.streams.slice(1) }), /video_0 is missing/],
])('%s is refused', (_name, changed, message) => {
  expect(() => join(changed)).toThrow(message)
  expect(() => join(changed)).toThrow(TaskError)
})

test('a record of another kind of message is refused', () => {
  expect(() => decodePartRecord({ gzip: 'AAAA' })).toThrow(TaskError)
  expect(() => decodePartRecord(null)).toThrow(TaskError)
})
