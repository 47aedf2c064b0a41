// In charge of: the video of a divided job: the work objects of all chunks in their order, if they fit together.
// Not in charge of: copying them into the outputs (division/joinParts.ts).
import { TaskError } from '#contract/taskError.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { bufferFault } from './joinedBuffer.ts'
import { UnlikeChunks } from './unlikeChunks.ts'
import type { ChunkRecord, PartRecord, RestRecord, StreamRecord } from './partRecord.ts'
import type { WorkObject } from '../upload/workObjects.ts'

/** `records`: of all parts, in any order. Throws if one is missing. */
export function sortParts(
  { division }: Plan,
  records: readonly PartRecord[],
): { chunks: ChunkRecord[]; rest: RestRecord } {
  const expected = division?.chunks.length ?? 0
  const chunks = records.filter((record) => record.kind === 'chunk').toSorted((a, b) => a.chunk - b.chunk)
  const [rest, ...more] = records.filter((record) => record.kind === 'rest')
  if (
    rest === undefined ||
    more.length > 0 ||
    chunks.length !== expected ||
    chunks.some(({ chunk }, index) => chunk !== index)
  )
    throw new TaskError('internal', `The job has ${expected} chunks, and records of ${chunks.length}.`)
  return { chunks, rest }
}

/** The time at which the video ends, in seconds: that of the leading rendition, which is the first. */
export function videoSeconds(lastChunk: PartRecord): number {
  const stream = lastChunk.kind === 'chunk' ? lastChunk.streams.find(({ rendition }) => rendition === 0) : undefined
  const last = stream?.segments.at(-1)
  if (stream === undefined || last === undefined) throw new TaskError('internal', 'The end of the video is not known.')
  return (last.start + last.duration) / stream.timescale
}

/**
 * Each rendition of `encoded` (`encodedSegments` of the whole job) as one stream: the first header, then all segments.
 * Throws if they do not fit together; UnlikeChunks, if one task has to make them.
 */
export function joinChunks({ packaging }: Plan, chunks: readonly ChunkRecord[]): WorkObject[][] {
  return (packaging?.renditions ?? []).map((rendition, number) =>
    joinStreams(
      rendition,
      chunks.map(({ streams }) => {
        const found = streams.find((stream) => stream.rendition === number)
        if (found === undefined) throw mismatch(rendition, 'is missing in a part of the job')
        return found
      }),
    ),
  )
}

function joinStreams(rendition: RenditionPlan, streams: readonly StreamRecord[]): WorkObject[] {
  const first = streams[0]!
  for (const [at, stream] of streams.entries()) {
    requireSameEncoder(rendition, first, stream)
    requireConstantRate(rendition, stream)
    requireContinuation(rendition, streams.slice(0, at), stream)
  }
  requireConstantBuffer(rendition, streams)
  return [first.init, ...streams.flatMap(({ segments }) => segments)]
}

/** A player reads all chunks with the init segment of the first one. Throws UnlikeChunks. */
function requireSameEncoder(rendition: RenditionPlan, first: StreamRecord, stream: StreamRecord): void {
  const isSame =
    first.init.sha256 === stream.init.sha256 &&
    first.timescale === stream.timescale &&
    first.codecs.join() === stream.codecs.join()
  // Another build, or other threads.
  if (!isSame) throw new UnlikeChunks(`the encoders of its chunks wrote different parameters (${rendition.id})`)
}

/** The buffer of a decoder would be emptier than the next chunk needs. Throws UnlikeChunks. */
function requireConstantRate(rendition: RenditionPlan, { overrun = 0 }: StreamRecord): void {
  if (overrun > 0)
    throw new UnlikeChunks(`the encoder of a chunk exceeded the constant bitrate at its end (${rendition.id})`)
}

/** Throws UnlikeChunks. A rate that is not constant has a warning instead (joinWarnings). */
function requireConstantBuffer(rendition: RenditionPlan, streams: readonly StreamRecord[]): void {
  const { video } = rendition
  if (video?.mode === 'cbr' && bufferFault(video, streams) !== null)
    throw new UnlikeChunks(`a decoder’s buffer would underflow or overflow where its chunks meet (${rendition.id})`)
}

function requireContinuation(rendition: RenditionPlan, earlier: readonly StreamRecord[], stream: StreamRecord): void {
  const segments = earlier.flatMap((each) => each.segments)
  const frames = segments.reduce((sum, segment) => sum + segment.frames, 0)
  const last = segments.at(-1)
  const begins = stream.segments[0]
  if (begins === undefined) throw mismatch(rendition, 'has a part without segments')
  if (stream.before.segments !== segments.length || stream.before.frames !== frames)
    throw mismatch(rendition, `has ${frames} frames before a part that begins with frame ${stream.before.frames}`)
  const end = last === undefined ? begins.start : last.start + last.duration
  if (begins.start !== end) throw mismatch(rendition, `has a part that begins at ${begins.start} instead of ${end}`)
}

function mismatch(rendition: RenditionPlan, what: string): TaskError {
  return new TaskError('internal', `${rendition.id} ${what}.`)
}
