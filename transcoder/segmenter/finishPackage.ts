// In charge of: the end of segmented output: the last segments stored, manifests of what was measured, the tar's end, job.json.
// Not in charge of: the manifests' texts (package/), putting them in their places (the Worker's commit).
import { mergeWarnings } from '#contract/job/findings.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import { copyUnknown } from '#contract/job/redact.ts'
import type { Warning } from '#contract/errors.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { FinishedObject, FinishPost, TaskDescription, WrittenObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import { cueEvents, limitedCues } from '../manifests/presentation/cueEvents.ts'
import { dashDocuments, hlsDocuments } from '../manifests/manifestObjects.ts'
import type { Presentation } from '../manifests/presentation/presentation.ts'
import type { TarIndex } from '../manifests/presentation/objectLocation.ts'
import { report, type ReportedObject } from '../manifests/jobReport.ts'
import { smoothManifest } from '../manifests/smoothManifest.ts'
import { tarDocuments } from '../manifests/tar/tarPlaylists.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { PackagingPlan, Plan } from '../plan/model/plan.ts'
import { segmentForms } from '../plan/forms.ts'
import type { SegmentPipeline } from './segmenter.ts'
import { presentationOf, secondsOf } from './buildPresentation.ts'
import { inMemory, thumbnailFiles, type SidecarFile } from './sidecarFiles.ts'
import { captionTexts, subtitleTexts, textTracks } from './webvttTracks.ts'
import type { TakenRendition } from './segmentCheck.ts'

export interface PackageFacts {
  /** Measures what was written, by its path below the directory of the packaging. */
  measure: (sets: Sets) => Promise<ReadonlyMap<string, MediaFacts>>
  task: TaskDescription
  /** What the same run made beside it: audio files. */
  files: FinishedObject[]
  ffmpegVersion: string
  /** Bytes; null = not known. */
  sourceSize: number | null
  cues: readonly Cue[]
}

/** Characters; a message of the door carries 8 Mi in one object. */
const LARGEST_REPORT = 4 * 1024 * 1024

/** Each set of segments that some manifest lists. */
export interface Sets {
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
  const { sets: media, warnings: limits } = setsOf(packaging, segments.renditions, plan.cues === null ? [] : facts.cues)
  const { sets, files, vtt } = withSidecars(packaging, media, segments, facts.task.takes)
  segments.post(files)
  const inDirectory = [...documents(packaging, sets), ...vtt]
  const { tar } = segments
  const documentFiles = inDirectory.map(({ path, body }) => ({ path, payload: inMemory(Buffer.from(body)) }))
  const tarred = await tar?.end([...files, ...documentFiles])
  const index = tarred && tar ? { name: tarred.path.split('/').at(-1)!, spans: tar.layout.spans } : null
  const measured = await facts.measure(sets)
  const placed = [...inDirectory, ...(index === null ? [] : overTar(sets, index))].map((document) => {
    const path = joinPath(packaging.directory, document.path)
    const found = measured.get(document.path)
    return { ...document, path, ...(found === undefined ? {} : { media: found }) }
  })
  const objects = [...facts.files, ...(await segments.end()), ...(tarred ? [tarred] : [])]
  const known = [
    ...objects,
    ...stored(packaging, segments.renditions, objects),
    ...beside(packaging, files),
    ...placed.map(described),
  ]
  const warnings = [...plan.warnings, ...limits, ...truncations(packaging, segments)]
  const written = [...placed, jobReport(packaging, warnings, facts, sets, known)]
  return { objects, written, warnings }
}

function setsOf(
  packaging: PackagingPlan,
  renditions: readonly TakenRendition[],
  cues: readonly Cue[],
): { sets: Sets; warnings: Warning[] } {
  const warnings: Warning[] = []
  const made = new Map<SegmentForm, Presentation>()
  const set = (form: SegmentForm): Presentation => {
    const known = made.get(form)
    if (known !== undefined) return known
    // Sections say times of the clock that the segments have.
    const found = segmentForms[form].listsCues ? cueEvents(cues, segmentForms[form].originTicks) : []
    const limited = limitedCues(found)
    warnings.push(...limited.warnings)
    const presentation = presentationOf(packaging, renditions, form, limited.events)
    made.set(form, presentation)
    return presentation
  }
  const sets = {
    hls: packaging.hls === null ? null : set(packaging.hls),
    dash: packaging.dash ? set('cmaf') : null,
    smooth: packaging.smooth === null ? null : set('smooth'),
  }
  // Transport streams and CMAF have the same cues: one warning says it.
  return { sets, warnings: mergeWarnings([], warnings) }
}

/** The same sets with what lies beside their segments. Smooth manifests list none of it. */
function withSidecars(
  packaging: PackagingPlan,
  { hls, dash, smooth }: Sets,
  segments: SegmentPipeline,
  takes: TaskDescription['takes'],
): { sets: Sets; files: SidecarFile[]; vtt: WrittenObject[] } {
  const leading = hls ?? dash ?? smooth
  const video = leading?.video[0]
  if (leading === null || video === undefined) return { sets: { hls, dash, smooth }, files: [], vtt: [] }
  const { own, captions, subtitles, sheets, posters } = segments
  // Of the pictures: sound may go on without them.
  const duration = secondsOf(video)
  const channels = packaging.textTracks ? captions.end(duration).channels : []
  const origin = segmentForms[video.form].originTicks
  const text = textTracks(
    [
      ...captionTexts(channels, packaging.captionLanguages),
      ...(takes?.subtitles === true ? subtitleTexts(packaging.subtitles ?? [], subtitles, duration) : []),
    ],
    { own, video, origin },
  )
  const small =
    packaging.thumbnails === null
      ? null
      : thumbnailFiles(packaging.thumbnails, { sheets, posters }, { own, duration, lists: takes !== undefined })
  const add = (presentation: Presentation | null) =>
    presentation && { ...presentation, text: text.tracks, thumbnails: small?.track ?? null }
  return {
    sets: { hls: add(hls), dash: hls === dash ? add(hls) : add(dash), smooth },
    files: [...text.files, ...(small?.files ?? [])],
    vtt: small === null ? [] : [small.vtt],
  }
}

function truncations({ subtitles = [] }: PackagingPlan, segments: SegmentPipeline): Warning[] {
  return subtitles.flatMap(({ stream }, at) =>
    segments.subtitles[at]?.truncated === true
      ? [
          {
            code: 'subtitles_truncated',
            message: `The subtitles of stream ${stream} of the source have more than 16 MB of text; the rest is left out.`,
          },
        ]
      : [],
  )
}

function beside(packaging: PackagingPlan, files: readonly SidecarFile[]): ReportedObject[] {
  return files
    .filter(({ role }) => role !== 'poster') // the commit completes it, and it is listed already
    .map(({ path, role, payload }) => ({
      path: joinPath(packaging.directory, path),
      size: payload.bytes,
      sha256: payload.sha256,
      role,
    }))
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
  const { bytes, sha256 } = inMemory(Buffer.from(body))
  return { path, role, size: bytes, sha256 }
}

function jobReport(
  packaging: PackagingPlan,
  warnings: readonly Warning[],
  { task, sourceSize, ffmpegVersion }: PackageFacts,
  sets: Sets,
  objects: readonly ReportedObject[],
): WrittenObject {
  const facts = {
    jobId: task.job_id,
    source: { name: task.input_name, size: sourceSize, etag: null },
    // Addresses lose what could be a secret.
    configuration: copyUnknown(task.config),
    ffmpegVersion,
    presentations: [...new Set([sets.hls, sets.dash, sets.smooth])].filter((each) => each !== null),
    warnings: warnings,
  }
  const whole = report({ ...facts, objects })
  const listed = new Set(['media', 'captions'])
  // Of a day of short segments, what is listed by the playlists is left out.
  const body =
    whole.length <= LARGEST_REPORT
      ? whole
      : report({ ...facts, objects: objects.filter(({ role }) => !listed.has(role)) })
  const path = joinPath(packaging.directory, 'job.json')
  return { path, content_type: 'application/json', profile: null, role: 'report', body, stage: 2 }
}
