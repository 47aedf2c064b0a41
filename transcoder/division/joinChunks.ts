// In charge of: the streams of a divided job, each joined from the chunks that made it.
// Not in charge of: the other members of the records (assembleParts.ts).
import { TaskError } from '#contract/taskError.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { objectNames } from '../segmenter/objectNames.ts'
import type { RecordedRendition } from '../segmenter/segmentCheck.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import { bufferFault } from './joinedBuffer.ts'
import { UnlikeChunks } from './unlikeChunks.ts'
import type { ChunkRecord, PartRecord, RestRecord, StreamRecord } from './partRecord.ts'

/** The video of a chunk as its segmenter recorded it. The last chunk's is `lastVideo` for the segmenter of the rest. */
export function videoOf(whole: Plan, record: PartRecord): RecordedRendition[] {
  if (record.kind !== 'chunk') throw new TaskError('internal', 'The record of another part has no video.')
  return record.streams.map((stream) => recordedRendition(whole, stream))
}

/** All streams, in the order of the plan. Throws if they do not fit together; UnlikeChunks, if one task has to make them. */
export function joinChunks(whole: Plan, chunks: readonly ChunkRecord[], rest: RestRecord): SegmentedStream[] {
  const renditions = whole.packaging?.renditions ?? []
  return renditions.flatMap((rendition, number) =>
    rendition.forms.map((form) => {
      const makers = rendition.kind === 'video' ? chunks : [rest]
      const streams = makers.map((record) => {
        const found = record.streams.find((stream) => stream.rendition === number && stream.form === form)
        if (found === undefined) throw mismatch(rendition, 'is missing in a part of the job')
        return found
      })
      return joinStreams(whole, rendition, streams)
    }),
  )
}

function joinStreams(whole: Plan, rendition: RenditionPlan, streams: readonly StreamRecord[]): SegmentedStream {
  const first = streams[0]!
  for (const [at, stream] of streams.entries()) {
    requireSameEncoder(rendition, first, stream)
    requireConstantRate(rendition, stream)
    requireContinuation(rendition, streams.slice(0, at), stream)
  }
  requireConstantBuffer(rendition, streams)
  const segments = streams.flatMap((stream) => stream.segments)
  const bytes = streams.reduce((sum, { mediaBytes }) => sum + mediaBytes, 0)
  return {
    recorded: recordedRendition(whole, { ...first, segments }),
    // Rates follow from the segments. The head was probed by the part that made it.
    metered: {
      counts: { tracks: [{ id: null, bytes, seconds: null }], seconds: null, codecString: null },
      head: new Uint8Array(),
    },
  }
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

function recordedRendition(whole: Plan, stream: StreamRecord): RecordedRendition {
  const { packaging } = whole
  const rendition = packaging?.renditions[stream.rendition]
  if (packaging == null || rendition === undefined)
    throw new TaskError('internal', 'The record of a part belongs to another plan.')
  const { form, before, init, segments, timescale, codecs } = stream
  return {
    rendition,
    form,
    directory: objectNames(packaging, rendition, form, '').tarDirectory,
    before,
    recorded: { init, segments },
    timescale,
    codecs,
    codecPrivateData: '',
    audioEnds: [],
  }
}

function mismatch(rendition: RenditionPlan, what: string): TaskError {
  return new TaskError('internal', `${rendition.id} ${what}.`)
}
