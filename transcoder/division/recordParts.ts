// In charge of: filling the record of a part from what its segmenter stored.
// Not in charge of: the record's members (partRecord.ts), making the part (pipeline/).
import type { Warning } from '#contract/errors.ts'
import type { FinishedObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { DamageSummary } from '../analysis/damage/damageReport.ts'
import type { ProbedRendition } from '../outputAnalysis/presentationAnalysis.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { leadingRendition, renditionSeconds, type RecordedRendition } from '../segmenter/segmentCheck.ts'
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import type { Segmenter } from '../segmenter/segmenter.ts'
import { buildThumbnailFiles } from '../segmenter/sidecarFiles.ts'
import type { UploadedObject } from '../upload/objectUpload.ts'
import type { ChunkRecord, RestRecord, StreamRecord } from './partRecord.ts'

/** What a part knows beside its segments. */
export interface PartFacts {
  /**
   * What ffprobe reports, by the id of the rendition. Only the first chunk and the rest need it
   * (pipeline/attemptReports.ts).
   */
  probed: ReadonlyMap<string, ProbedRendition>
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
}

/** Call after `requireComplete`. Resolves when everything is stored. `whole`: the plan of the whole job. */
export async function chunkRecordOf(
  segmenter: Segmenter,
  whole: Plan,
  chunk: number,
  { read, ...facts }: PartFacts & Pick<ChunkRecord, 'read'>,
): Promise<ChunkRecord> {
  const packaging = packagingOf(whole)
  return {
    kind: 'chunk',
    chunk,
    ...(read === undefined ? {} : { read }),
    ...common(packaging, segmenter.streams, facts),
    objects: await segmenter.finish(),
  }
}

/** The record of everything but the video. Waits for the end of the video (`Segmenter.videoEnd`). */
export async function restRecordOf(segmenter: Segmenter, whole: Plan, facts: RestFacts): Promise<RestRecord> {
  const packaging = packagingOf(whole)
  const leading = leadingRendition(packaging.renditions)
  const duration = (await segmenter.videoEnd())
    .filter(({ rendition }) => rendition.id === leading?.id)
    .map(renditionSeconds)[0]
  if (duration === undefined) throw new TaskError('internal', 'The end of the video is not known.')
  const { sheets, posters, attemptDirectory, subtitles, secondsBefore } = segmenter
  const thumbnails =
    packaging.thumbnails === null
      ? null
      : buildThumbnailFiles(packaging.thumbnails, { sheets, posters }, { own: attemptDirectory, duration })
  segmenter.enqueueFiles(thumbnails?.files ?? [])
  const captions = packaging.textTracks ? segmenter.captions.end(duration) : { channels: [], isOverLimit: false }
  return {
    kind: 'rest',
    ...common(packaging, segmenter.streams, facts),
    captions,
    subtitles: [...subtitles],
    secondsBefore,
    pictures:
      thumbnails === null
        ? null
        : {
            sheets: thumbnails.track.sheets.map(({ uri, bytes, sha256 }) => ({ uri, bytes, sha256 })),
            poster: thumbnails.track.poster,
          },
    audioFileSeconds: [...facts.audioFileSeconds],
    sourceBytes: facts.sourceBytes,
    objects: [...facts.files, ...(await segmenter.finish())],
  }
}

/** The same record for a job with single files. `stored`: the tracks that they are made of. */
export function restRecordOfFiles(stored: readonly UploadedObject[], facts: RestFacts): RestRecord {
  return {
    kind: 'rest',
    version: 1,
    streams: [],
    damage: facts.damage,
    warnings: [...facts.warnings],
    captions: { channels: [], isOverLimit: false },
    subtitles: [],
    secondsBefore: 0,
    pictures: null,
    audioFileSeconds: [...facts.audioFileSeconds],
    sourceBytes: facts.sourceBytes,
    objects: [...facts.files],
    tracks: stored.map(trackRecord),
  }
}

/** `upload` is the name of a work object (workObjects.ts). */
export function trackRecord({ upload, size, sha256 }: UploadedObject): NonNullable<RestRecord['tracks']>[number] {
  return { name: upload, bytes: size, sha256 }
}

function common(packaging: PackagingPlan, streams: readonly SegmentedStream[], facts: PartFacts) {
  return {
    version: 1 as const,
    streams: streams.map((stream) => streamRecord(packaging, stream, facts.probed)),
    damage: facts.damage,
    warnings: [...facts.warnings],
  }
}

function streamRecord(
  packaging: PackagingPlan,
  { recorded: found, metered }: SegmentedStream,
  probed: PartFacts['probed'],
): StreamRecord {
  const { rendition, form, before, recorded, timescale, codecs, overrun = 0 } = found
  if (form !== 'cmaf' || recorded.init === null)
    throw new TaskError('internal', `${rendition.id} cannot be put together from parts.`)
  return {
    rendition: numberOf(packaging, found),
    form,
    before,
    init: recorded.init,
    segments: recorded.segments,
    timescale,
    codecs,
    mediaBytes: metered.counts.tracks.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(overrun === 0 ? {} : { overrun }),
    ...(metered.demand == null ? {} : { demand: metered.demand }),
    probed: probed.get(rendition.id) ?? null,
  }
}

function numberOf({ renditions }: PackagingPlan, { rendition }: RecordedRendition): number {
  const number = renditions.findIndex(({ id }) => id === rendition.id)
  if (number < 0) throw new TaskError('internal', `The plan has no rendition ${rendition.id}.`)
  return number
}

function packagingOf({ packaging }: Plan): PackagingPlan {
  if (packaging === null) throw new TaskError('internal', 'Single files are not divided.')
  return packaging
}
