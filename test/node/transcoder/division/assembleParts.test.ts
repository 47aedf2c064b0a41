// In charge of: a job put together from the records of its parts is listed as one run would have listed it, and parts that
// do not fit together are refused.
// Not in charge of: encoding the parts (test/node/transcoder/pipeline/dividedJob.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../../../../transcoder/attempt.ts'
import { assembleParts } from '../../../../transcoder/division/assembleParts.ts'
import { UnlikeChunks } from '../../../../transcoder/division/unlikeChunks.ts'
import type { PartRecord } from '../../../../transcoder/division/partRecord.ts'
import { decodePartRecord, encodePartRecord } from '../../../../transcoder/division/recordEncoding.ts'
import { chunkRecordOf, restRecordOf } from '../../../../transcoder/division/recordParts.ts'
import { analyzePresentation, probeRenditions } from '../../../../transcoder/outputAnalysis/presentationAnalysis.ts'
import { partsOf, planOfPart } from '../../../../transcoder/plan/division/partPlan.ts'
import type { PartPlan } from '#contract/task/plan/divisionPlan.ts'
import { type PipePlan, plannedPipes } from '../../../../transcoder/plan/model/plannedPipes.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { finalizePackage } from '../../../../transcoder/segmenter/finishPackage.ts'
import { requireCompleteSegments, type RecordedRendition } from '../../../../transcoder/segmenter/segmentCheck.ts'
import { Segmenter } from '../../../../transcoder/segmenter/segmenter.ts'
import type { StoredSegments } from '../../../../transcoder/segmenter/storedSegments.ts'
import { TransferLimiter } from '../../../../transcoder/upload/transferLimiter.ts'
import { expectValidMpd } from '../../../support/manifests/mpdSchema.ts'
import { parseMpdTracks } from '../../../support/manifests/mpdTracks.ts'
import { chunkOfStream } from '../../../support/media/chunkStream.ts'
import { encodeSegmentStreams } from '../../../support/media/encodeSegmented.ts'
import { probeOnce } from '../../../support/media/encodeJob.ts'
import { ffmpeg, makeClip, testFfmpeg } from '../../../support/media/media.ts'
import { describeTask } from '../../../support/transcoder/attemptFixture.ts'
import { sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { jobSpec, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const SECONDS = 13
/** Full segments at which chunks begin. Each has 52 frames; a splice at 5 s makes a segment more. */
const CHUNKS = [0, 2, 4]

const engine = await testFfmpeg()
const { path: directory } = useTempDirectory()
const task = {
  ...describeTask({ container: 'mp4' }),
  spec: jobSpec(),
  accepts: { source: false, preview: false, log: false, subtitles: true },
}
const stored = new Map<string, Buffer>()
const facts = {
  probed: new Map<string, never>(),
  damage: {
    packets: { count: 0, seconds: [] },
    frames: { count: 0, seconds: [] },
    messages: { count: 0, seconds: [], first: '' },
    gaps: [],
    total: 0,
  },
  warnings: [],
}
let made: Awaited<ReturnType<typeof encodeSegmentStreams>>
let plan: Plan
let records: PartRecord[]

function attemptIn(out: string): Attempt {
  const taskClient = {
    putObject: async (path: string, _type: string, body: Uint8Array | { path: string }) => {
      stored.set(path, 'path' in body ? await readFile(body.path) : Buffer.from(body))
    },
    openUpload: (request: { path: string }) => Promise.resolve({ upload: request.path, part_size: 8 * 1024 * 1024 }),
    putPart: async (upload: string, _n: number, body: Uint8Array | { path: string }) => {
      stored.set(upload, 'path' in body ? await readFile(body.path) : Buffer.from(body))
      return { etag: 'x' }
    },
  }
  const attempt: Partial<Record<keyof Attempt, unknown>> = {
    engine,
    taskClient,
    limiter: new TransferLimiter(4),
    controller: new AbortController(),
    workspace: { root: out, cwd: out, out },
  }
  return attempt as unknown as Attempt
}

beforeAll(async () => {
  const [clip, text, source] = ['clip.mp4', 'text.srt', 'source.mp4'].map((name) => `${directory}/${name}`)
  await makeClip(clip!, { seconds: SECONDS, audio: [2] })
  await writeFile(text!, '1\n00:00:03,000 --> 00:00:09,500\nAcross two joins\n')
  await ffmpeg(['-i', clip!, '-i', text!, '-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'mov_text', '-y', source!])
  const spec = jobSpec({
    outputDirectory: 'show',
    scte35Passthrough: true,
    packaging: packagingSpec({ hls: true, dash: true, segmentSeconds: 2, thumbnails: true }),
    video: [
      videoProfile({ output: '' }),
      videoProfile({ index: 1, output: '', width: 160, height: 90, frameRateFactor: '1/2x' }),
    ],
  })
  const cues = { pids: [500], cueStreamType: 0, splicePoints: [5 * 90_000], schedules: 0, damaged: 0 }
  made = await encodeSegmentStreams(spec, source!, directory, cues)
  plan = { ...made.plan, division: { chunks: CHUNKS } }
  records = await makeParts(source!)
})

function fileOf(stream: PipePlan): string {
  return made.file(
    stream.kind === 'rendition' ? `${plan.packaging!.renditions[stream.rendition]!.id} ${stream.form}` : stream.kind,
  )
}

/** What the encoder of a part would have written. */
async function streamOf(stream: PipePlan, part: PartPlan | undefined): Promise<Buffer> {
  const whole = await readFile(fileOf(stream))
  if (part?.kind !== 'chunk' || stream.kind !== 'rendition') return whole
  const { segmentFrames } = plan.packaging!.renditions[stream.rendition]!
  return chunkOfStream(whole, part.from * segmentFrames, (part.to ?? Infinity) * segmentFrames)
}

async function segmentsOf(
  part: PartPlan | undefined,
  index: number,
  lastVideo?: () => Promise<RecordedRendition[]>,
): Promise<Segmenter> {
  const own = part === undefined ? plan : planOfPart(plan, part)
  const segmenter = new Segmenter(
    attemptIn(`${directory}/${index}`),
    own,
    { job_id: 'j-1', attempt: 1, ...(part === undefined ? {} : { part: { index } }) },
    { cues: [], startSeconds: 0, secondsBefore: 0, whole: plan, ...(lastVideo === undefined ? {} : { lastVideo }) },
  )
  const pipes = plannedPipes(own)
  await Promise.all(
    segmenter.pipeReaders.map(async (read, at) => read(Readable.from([await streamOf(pipes[at]!, part)]))),
  )
  return segmenter
}

/** Each as it comes back from the service. */
async function makeParts(source: string): Promise<PartRecord[]> {
  const media = await probeOnce(engine, source, { cwd: directory })
  const last: RecordedRendition[] = []
  const found: PartRecord[] = []
  for (const [index, part] of partsOf(plan.division!).entries()) {
    const segmenter = await segmentsOf(part, index, part.kind === 'rest' ? () => Promise.resolve(last) : undefined)
    segmenter.requireComplete(media)
    if (index === 0) last.push(...segmenter.renditions)
    const probed = await probeRenditions(attemptIn(directory), plan.packaging!, {
      streams: segmenter.streams,
      hasCaptions: false,
    })
    const record =
      part.kind === 'chunk'
        ? await chunkRecordOf(segmenter, plan, part.chunk, { ...facts, probed })
        : await restRecordOf(segmenter, plan, { ...facts, probed, files: [], audioFileSeconds: [], sourceBytes: 7 })
    found.push(decodePartRecord(JSON.parse(JSON.stringify(encodePartRecord(record)))))
  }
  return found
}

function assemble(changed: readonly PartRecord[] = records) {
  return assembleParts(plan, changed, { attempt: attemptIn(directory), task: { job_id: 'j-1', attempt: 2 } })
}

async function packaged(segments: StoredSegments, analysis: ReturnType<typeof probeRenditions>) {
  const facts = new Map<string, MediaFacts>()
  const { written, objects } = await finalizePackage(segments, plan, {
    measure: async (sets) => {
      for (const [path, each] of analyzePresentation(plan.packaging!, segments.streams, await analysis, sets))
        facts.set(path, each)
      return facts
    },
    task,
    files: [],
    ffmpegVersion: '8',
    sourceSize: 7,
    cues: [],
    captions: [],
  })
  return { facts, written: new Map(written.map(({ path, body }) => [path, body])), objects }
}

/** The directories of attempts have different names. */
const comparable = (text: string) => text.replaceAll(/j-1(-\d+)?-\d+\//g, 'own/')

test('the parts are listed as one run would have listed them', async (context) => {
  const whole = await segmentsOf(undefined, 99)
  const one = await packaged(
    whole,
    probeRenditions(attemptIn(directory), plan.packaging!, { streams: whole.streams, hasCaptions: false }),
  )
  const parts = assemble()
  const several = await packaged(parts, Promise.resolve(parts.probed))
  expect([...several.written.keys()]).toEqual([...one.written.keys()])
  for (const [path, body] of several.written) {
    if (path.endsWith('.mpd') || path.endsWith('job.json')) continue
    expect(comparable(body), path).toBe(comparable(one.written.get(path)!))
  }
  expect(several.facts).toEqual(one.facts)
  expect(several.facts.get('master.m3u8')).toMatchObject({ duration_seconds: SECONDS })
  expect(several.objects.map(({ path, sha256, role }) => [path, sha256, role])).toEqual(
    one.objects.map(({ path, sha256, role }) => [path, sha256, role]),
  )

  const mpd = several.written.get('show/manifest.mpd')!
  await expectValidMpd(mpd, context)
  const [dash, alone] = [parseMpdTracks(mpd), parseMpdTracks(one.written.get('show/manifest.mpd')!)]
  expect(dash.size).toBe(3)
  for (const [id, track] of dash)
    expect(
      track.segments.map(({ resolvedUri, presentationTime }) => [comparable(resolvedUri), presentationTime]),
      id,
    ).toEqual(
      alone.get(id)!.segments.map(({ resolvedUri, presentationTime }) => [comparable(resolvedUri), presentationTime]),
    )
})

test('job.json lists every stored object once, and all that is listed is stored with these bytes', async () => {
  const parts = assemble()
  const { written } = await packaged(parts, Promise.resolve(parts.probed))
  const report = JSON.parse(written.get('show/job.json')!) as {
    objects: { path: string; size: number; sha256: string }[]
  }
  const media = report.objects.filter(({ path }) => !written.has(path))
  expect(new Set(media.map(({ path }) => path)).size).toBe(media.length)
  for (const { path, size, sha256: digest } of media) {
    expect(stored.get(path)?.length, path).toBe(size)
    expect(sha256(stored.get(path)!), path).toBe(digest)
  }
  // Nothing else is stored: only the first chunk keeps its init segment.
  const own = [...stored.keys()].filter((path) => !path.includes('j-1-1/'))
  expect(own.filter((path) => path.endsWith('init.mp4')).toSorted()).toEqual([
    'show/audio_0/j-1-2-1/init.mp4',
    'show/video_0/j-1-3-1/init.mp4',
    'show/video_1/j-1-3-1/init.mp4',
  ])
  const listed = new Set(media.map(({ path }) => path))
  expect(own.filter((path) => !listed.has(path))).toEqual([])
})

test('the segments have the bytes of one run', async () => {
  const whole = await segmentsOf(undefined, 98)
  await whole.finish()
  for (const { directory: track, recorded } of assemble().renditions) {
    const alone = whole.renditions.find((each) => each.directory === track)!.recorded.segments
    expect(recorded.segments).toHaveLength(alone.length)
    for (const [at, { uri }] of recorded.segments.entries())
      expect(stored.get(`show/${track}/${uri}`)!).toEqual(stored.get(`show/${track}/${alone[at]!.uri}`)!)
  }
})

test('all parts together are as complete as the source', async () => {
  const media = await probeOnce(engine, `${directory}/source.mp4`, { cwd: directory })
  expect(() => requireCompleteSegments(plan, assemble().renditions, media, 0)).not.toThrow()
})

test('a chunk that ends where it must not is refused', async () => {
  const part: PartPlan = { kind: 'chunk', chunk: 1, from: 2, to: 5 }
  const segmenter = await segmentsOf({ ...part, to: 4 }, 3)
  const media = await probeOnce(engine, `${directory}/source.mp4`, { cwd: directory })
  segmenter.requireComplete(media)
  const short = new Segmenter(
    attemptIn(`${directory}/short`),
    planOfPart(plan, part),
    { job_id: 'j-1', attempt: 2, part: { index: 3 } },
    {
      cues: [],
      startSeconds: 0,
      secondsBefore: 0,
      whole: plan,
    },
  )
  const pipes = plannedPipes(planOfPart(plan, part))
  await Promise.all(
    short.pipeReaders.map(async (read, at) => read(Readable.from([await streamOf(pipes[at]!, { ...part, to: 4 })]))),
  )
  expect(() => short.requireComplete(media)).toThrow(/video_0 \(cmaf\) has 104 frames from 104 on .* up to 260/)
})

const firstStream = (record: PartRecord, change: Partial<PartRecord['streams'][number]>): PartRecord => ({
  ...record,
  streams: record.streams.map((stream, at) => (at === 0 ? { ...stream, ...change } : stream)),
})
const otherInit = { uri: 'x', bytes: 1, sha256: 'ab'.repeat(32) }

test.each([{ init: otherInit }, { timescale: 7 }, { codecs: ['avc1.640015'] }, { overrun: 1 }])(
  'other parameters of one chunk, or too many bytes, are for one task: %o',
  (change) => {
    expect(() => assemble([firstStream(records[0]!, change), ...records.slice(1)])).toThrow(UnlikeChunks)
  },
)

describe('the decoder’s buffer', () => {
  const streamOfPart = (record: PartRecord) => record.streams[0]!
  /** A chunk whose encoder began with a full buffer, and used it. */
  const greedy = (record: PartRecord): PartRecord => {
    const { video } = plan.packaging!.renditions[0]!
    const bits = video!.bufferBits
    return firstStream(record, { demand: { needed: 0.9 * bits, gain: -bits / 2, ceiling: bits / 2, shortage: 0 } })
  }
  // The last chunk comes first, then the rest.
  const withGreedy = () => records.map((record, at) => (at === 0 || at === 3 ? greedy(record) : record))

  test('is measured in each chunk', () => {
    const { video } = plan.packaging!.renditions[0]!
    const { num, den } = video!.frameRate
    for (const record of records.filter(({ kind }) => kind === 'chunk')) {
      const { demand, segments, mediaBytes } = streamOfPart(record)
      const frames = segments.reduce((sum, segment) => sum + segment.frames, 0)
      const arrived = (video!.maxKbps * 1000 * frames * den) / num
      // A few bytes for the start codes.
      expect(Math.abs(demand!.gain - (arrived - mediaBytes * 8))).toBeLessThan(frames * 8 * 4)
    }
    expect(assemble().warnings).toEqual([])
  })

  test('chunks that exceed the rate together are kept, with a warning', () => {
    const { warnings } = assemble(withGreedy())
    expect(warnings).toMatchObject([{ code: 'access_units_late', message: expect.stringContaining('(video_0: ') }])
  })

  test('at a constant rate, one task makes the job', () => {
    const renditions = plan.packaging!.renditions.map((each) => ({
      ...each,
      video: each.video === null ? null : { ...each.video, mode: 'cbr' as const },
    }))
    const constant: Plan = { ...plan, packaging: { ...plan.packaging!, renditions } }
    const changed = { attempt: attemptIn(directory), task: { job_id: 'j-1', attempt: 2 } }
    expect(() => assembleParts(constant, withGreedy(), changed)).toThrow(UnlikeChunks)
  })
})

test.each<[string, () => PartRecord[], string, RegExp]>([
  ['a missing chunk', () => records.slice(0, -1), 'internal', /3 chunks, and records of 2/],
  ['a chunk twice', () => [...records, records[0]!], 'internal', /records of 4/],
  ['no rest', () => records.filter(({ kind }) => kind === 'chunk'), 'internal', /3 chunks/],
  [
    'a lost segment',
    () => [
      ...records.slice(0, 2),
      firstStream(records[2]!, { segments: records[2]!.streams[0]!.segments.slice(1) }),
      ...records.slice(3),
    ],
    'internal',
    /video_0 has 52 frames before a part that begins with frame 104/,
  ],
  [
    'a missing rendition',
    () => [{ ...records[0]!, streams: records[0]!.streams.slice(1) }, ...records.slice(1)],
    'internal',
    /video_0 is missing/,
  ],
])('%s is refused', (_name, changed, code, message) => {
  const error = ((): unknown => {
    try {
      assemble(changed())
    } catch (caught) {
      return caught
    }
    return null
  })()
  expect(error).toBeInstanceOf(TaskError)
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string })
})

test('a record of another kind of message is refused', () => {
  expect(() => decodePartRecord({ gzip: 'AAAA' })).toThrow(TaskError)
  expect(() => decodePartRecord(null)).toThrow(TaskError)
})
