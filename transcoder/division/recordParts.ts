// In charge of: filling the record of a part from what its segmenter stored.
// Not in charge of: the record's members (partRecord.ts), making the part (pipeline/).
import type { Warning } from '#contract/errors.ts'
import type { FinishedObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { DamageSummary } from '../analysis/damage/damageReport.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import type { Segmenter } from '../segmenter/segmenter.ts'
import { requirePictures } from '../segmenter/sidecarFiles.ts'
import type { UploadedObject } from '../upload/objectUpload.ts'
import type { ChunkRecord, RestRecord } from './partRecord.ts'
import type { WorkObject } from '../upload/workObjects.ts'

/** What a part knows beside its streams. */
interface PartFacts {
  /** Times are those of the outputs. */
  damage: DamageSummary
  /** Warnings, without the warnings of the plan. */
  warnings: readonly Warning[]
}

export interface RestFacts extends PartFacts {
  /** The audio files, then stills, preview and waveform. */
  files: readonly FinishedObject[]
  /** Seconds of each audio file; null = not known. */
  audioFileSeconds: readonly (number | null)[]
  /** Bytes of the source; null = not known. */
  sourceBytes: number | null
  /** The audio of the outputs, each with the name of its work object as `upload`. */
  tracks: readonly UploadedObject[]
}

/** Call after `requireComplete`. Resolves when everything is stored. `encoded`: `encodedSegments` of the whole job. */
export async function chunkRecordOf(
  segmenter: Segmenter,
  encoded: Plan,
  chunk: number,
  { read, damage, warnings }: PartFacts & Pick<ChunkRecord, 'read'>,
): Promise<ChunkRecord> {
  await segmenter.finish()
  const streams = segmenter.streams.map((stream) => streamRecord(packagingOf(encoded), stream))
  return {
    kind: 'chunk',
    version: 1,
    chunk,
    ...(read === undefined ? {} : { read }),
    streams,
    damage,
    warnings: [...warnings],
  }
}

/** What the rest knows of segmented outputs. */
interface OfSegments {
  segmenter: Pick<Segmenter, 'captions' | 'subtitles' | 'secondsBefore' | 'sheets' | 'posters'>
  /** The end of the video, which other parts make. */
  videoSeconds: number
  /** Stores a picture for the last attempt. */
  store: (name: string, picture: Uint8Array) => Promise<WorkObject>
}

/** The record of everything but the video. `segments`: null = the outputs are single files. */
export async function restRecordOf(whole: Plan, facts: RestFacts, segments: OfSegments | null): Promise<RestRecord> {
  const { tracks, files, audioFileSeconds, sourceBytes, damage, warnings } = facts
  return {
    kind: 'rest',
    version: 1,
    ...(segments === null ? NO_SEGMENTS : await besideSegments(packagingOf(whole), segments)),
    tracks: tracks.map(({ upload, size, sha256 }) => ({ name: upload, bytes: size, sha256 })),
    objects: [...files],
    audioFileSeconds: [...audioFileSeconds],
    sourceBytes,
    damage,
    warnings: [...warnings],
  }
}

type BesideSegments = Pick<RestRecord, 'captions' | 'subtitles' | 'secondsBefore' | 'pictures'>

const NO_CAPTIONS: RestRecord['captions'] = { channels: [], isOverLimit: false }
const NO_SEGMENTS: BesideSegments = { captions: NO_CAPTIONS, subtitles: [], secondsBefore: 0, pictures: null }

async function besideSegments(
  { textTracks, thumbnails }: PackagingPlan,
  { segmenter, videoSeconds, store }: OfSegments,
): Promise<BesideSegments> {
  const { captions, subtitles, secondsBefore } = segmenter
  let pictures: RestRecord['pictures'] = null
  if (thumbnails !== null) {
    const { sheets, poster } = requirePictures(thumbnails, segmenter, videoSeconds)
    const storedSheets: WorkObject[] = []
    for (const [index, sheet] of sheets.entries()) storedSheets.push(await store(`sheet_${index}`, sheet))
    pictures = { sheets: storedSheets, poster: await store('poster', poster) }
  }
  return {
    captions: textTracks ? captions.end(videoSeconds) : NO_CAPTIONS,
    subtitles: [...subtitles],
    secondsBefore,
    pictures,
  }
}

function streamRecord(
  { renditions }: PackagingPlan,
  { recorded: { rendition, form, before, recorded, timescale, codecs, overrun = 0 }, metered }: SegmentedStream,
): ChunkRecord['streams'][number] {
  const { init, segments } = recorded
  const number = renditions.findIndex(({ id }) => id === rendition.id)
  if (form !== 'cmaf' || init === null || number < 0)
    throw new TaskError('internal', `${rendition.id} cannot be put together from chunks.`)
  return {
    rendition: number,
    before,
    init: workObject(init),
    segments: segments.map(({ start, duration, frames, ...object }) => ({
      ...workObject(object),
      start,
      duration,
      frames,
    })),
    timescale,
    codecs,
    ...(overrun === 0 ? {} : { overrun }),
    ...(metered.demand == null ? {} : { demand: metered.demand }),
  }
}

/** The segments of a chunk are work objects by their names. */
function workObject({ uri, bytes, sha256 }: { uri: string; bytes: number; sha256: string }): WorkObject {
  return { name: uri, bytes, sha256 }
}

function packagingOf({ packaging }: Plan): PackagingPlan {
  if (packaging === null) throw new TaskError('internal', 'The plan has no segments.')
  return packaging
}
