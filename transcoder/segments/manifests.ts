// In charge of: the end of segmented output: the last segments stored, manifests of what was measured, the tar's end, job.json.
// Not in charge of: the manifests' texts (package/), putting them in their places (the Worker's commit).
import { createHash } from 'node:crypto'
import { joinPath } from '#contract/outputs.ts'
import { copyUnknown } from '#contract/redact.ts'
import type { Warning } from '#contract/errors.ts'
import type { FinishedObject, FinishPost, TaskDescription, WrittenObject } from '#contract/task.ts'
import { TaskError } from '../failure.ts'
import type { Cue } from '../mpegts/scan.ts'
import { cueEvents } from '../package/cues.ts'
import { dashDocuments, hlsDocuments } from '../package/documents.ts'
import type { Presentation } from '../package/model.ts'
import type { TarIndex } from '../package/place.ts'
import { report, type ReportedObject } from '../package/report.ts'
import { smoothManifest } from '../package/smooth.ts'
import { tarDocuments } from '../package/tarPlaylists.ts'
import type { PackagingPlan, Plan, SegmentForm } from '../plan/plan.ts'
import { TS_ORIGIN_TICKS } from '../plan/segmentArgs.ts'
import type { SegmentPipeline } from './pipeline.ts'
import { presentationOf } from './presentation.ts'
import { Payload } from './spool.ts'
import type { TakenRendition } from './whole.ts'

export interface PackageFacts {
  task: TaskDescription
  /** What the same run made beside it: audio files. */
  files: FinishedObject[]
  ffmpegVersion: string
  /** Bytes; null = not known. */
  sourceSize: number | null
  cues: readonly Cue[]
}

const NO_WEBVTT: Warning = {
  code: 'captions_not_written',
  field: 'closed_captions',
  message: 'The captions stay in the pictures; this version does not write them as WebVTT as well.',
}

/** Each set of segments that some manifest lists. */
interface Sets {
  hls: Presentation | null
  dash: Presentation | null
  smooth: Presentation | null
}

/** Once everything was found whole. Resolves when all of it is stored but what the commit puts. */
export async function finishPackage(
  segments: SegmentPipeline,
  plan: Plan,
  facts: PackageFacts,
): Promise<Pick<FinishPost, 'objects' | 'written' | 'warnings'>> {
  const packaging = plan.packaging
  if (packaging === null) throw new TaskError('internal', 'A plan of single files has no manifests.')
  const sets = setsOf(packaging, segments.renditions, plan.cues === null ? [] : facts.cues)
  const inDirectory = documents(packaging, sets)
  const { tar } = segments
  const tarred = await tar?.end(inDirectory.map(({ path, body }) => ({ path, payload: inMemory(body) })))
  const index = tarred && tar ? { name: tarred.path.split('/').at(-1)!, spans: tar.layout.spans } : null
  const placed = [...inDirectory, ...(index === null ? [] : overTar(sets, index))].map((document) => {
    return { ...document, path: joinPath(packaging.directory, document.path) }
  })
  const objects = [...facts.files, ...(await segments.end()), ...(tarred ? [tarred] : [])]
  const known = [...objects, ...stored(packaging, segments.renditions, objects), ...placed.map(described)]
  const warnings = [...plan.warnings, ...(packaging.textTracks ? [NO_WEBVTT] : [])]
  const written = [...placed, jobReport(packaging, warnings, facts, sets, known)]
  return { objects, written, warnings }
}

function setsOf(packaging: PackagingPlan, renditions: readonly TakenRendition[], cues: readonly Cue[]): Sets {
  const made = new Map<SegmentForm, Presentation>()
  const set = (form: SegmentForm): Presentation => {
    // Sections say times of the clock that the segments have.
    const events = form === 'smooth' ? [] : cueEvents(cues, form === 'ts' ? TS_ORIGIN_TICKS : 0)
    const presentation = made.get(form) ?? presentationOf(packaging, renditions, form, events)
    made.set(form, presentation)
    return presentation
  }
  return {
    hls: packaging.hls === null ? null : set(packaging.hls),
    dash: packaging.dash ? set('cmaf') : null,
    smooth: packaging.smooth === null ? null : set('smooth'),
  }
}

/** Paths below the directory of the packaging. */
function documents(packaging: PackagingPlan, { hls, dash, smooth }: Sets): WrittenObject[] {
  const manifest = (presentation: Presentation): WrittenObject => ({
    path: `${packaging.smooth}/Manifest`,
    content_type: 'application/vnd.ms-sstr+xml',
    profile: null,
    role: 'manifest',
    body: smoothManifest(presentation),
    stage: 2,
  })
  return [
    ...(hls === null ? [] : hlsDocuments(hls)),
    ...(dash === null ? [] : dashDocuments(dash)),
    ...(smooth === null ? [] : [manifest(smooth)]),
  ]
}

function overTar({ hls, dash }: Sets, index: TarIndex): WrittenObject[] {
  return [
    ...(hls === null ? [] : tarDocuments(hls, index, { hls: true, dash: false })),
    ...(dash === null ? [] : tarDocuments(dash, index, { hls: false, dash: true })),
  ]
}

/** Segments and init segments, but for those that the commit completes and that are listed already. */
function stored(
  packaging: PackagingPlan,
  renditions: readonly TakenRendition[],
  objects: readonly FinishedObject[],
): ReportedObject[] {
  const listed = new Set(objects.map(({ path }) => path))
  return renditions
    .flatMap(({ directory, taken }) =>
      [...(taken.init === null ? [] : [taken.init]), ...taken.segments].map(({ uri, bytes, sha256 }) => ({
        path: joinPath(joinPath(packaging.directory, directory), uri),
        size: bytes,
        sha256,
        role: 'media' as const,
      })),
    )
    .filter(({ path }) => !listed.has(path))
}

function described({ path, role, body }: WrittenObject): ReportedObject {
  const { bytes, sha256 } = inMemory(body)
  return { path, role, size: bytes, sha256 }
}

function inMemory(body: string): Payload {
  const bytes = Buffer.from(body)
  return new Payload(bytes.length, createHash('sha256').update(bytes).digest('hex'), bytes)
}

function jobReport(
  packaging: PackagingPlan,
  warnings: readonly Warning[],
  { task, sourceSize, ffmpegVersion }: PackageFacts,
  sets: Sets,
  objects: readonly ReportedObject[],
): WrittenObject {
  const body = report({
    jobId: task.job_id,
    source: { name: task.input_name, size: sourceSize, etag: null },
    // Addresses lose what could be a secret.
    configuration: copyUnknown(task.config),
    ffmpegVersion,
    objects,
    presentations: [...new Set([sets.hls, sets.dash, sets.smooth])].filter((each) => each !== null),
    warnings,
  })
  const path = joinPath(packaging.directory, 'job.json')
  return { path, content_type: 'application/json', profile: null, role: 'report', body, stage: 2 }
}
