// In charge of: the end of segmented output: storing the last segments, building the manifests, the end of the tar,
// job.json.
// Not in charge of: the text of the manifests (manifests/), storing them under their permanent names (the Worker's
// commit).
import { mergeWarnings } from '#contract/job/findings.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import { redactUnknownValue } from '#contract/job/redact.ts'
import type { Warning } from '#contract/errors.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { FinishedObject, FinishPost, TaskDescription, WrittenObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { CaptionCue } from '../formats/captions/captionCue.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import { cueEvents, limitedCues } from '../manifests/presentation/cueEvents.ts'
import { dashObjects, hlsObjects } from '../manifests/manifestObjects.ts'
import type { Presentation } from '../manifests/presentation/presentation.ts'
import type { TarIndex } from '../manifests/presentation/objectLocation.ts'
import { jobReportJson, type ReportedObject } from '../manifests/jobReport.ts'
import { smoothManifest } from '../manifests/smoothManifest.ts'
import { tarDocuments } from '../manifests/tar/tarPlaylists.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { segmentForms } from '../plan/forms.ts'
import type { Segmenter } from './segmenter.ts'
import { buildPresentation, trackSeconds } from './buildPresentation.ts'
import { inMemoryObject, buildThumbnailFiles, type SidecarFile } from './sidecarFiles.ts'
import { captionTracks, sidecarTracks, subtitleTracks, buildTextTracks, type TextTrackSource } from './webvttTracks.ts'
import type { RecordedRendition } from './segmentCheck.ts'

export interface PackageInput {
  /** Measures the media; returns the facts by path below the packaging directory. */
  measure: (sets: PresentationSets) => Promise<ReadonlyMap<string, MediaFacts>>
  task: TaskDescription
  /** Files that the same run made in addition: audio files. */
  files: FinishedObject[]
  ffmpegVersion: string
  /** Bytes; null = not known. */
  sourceSize: number | null
  cues: readonly Cue[]
  /** The captions of `plan.sidecars`, in presentation time. */
  captions: readonly (readonly CaptionCue[])[]
}

/** Characters; a message to the task API may contain 8 Mi in one object. */
const MAX_REPORT_CHARS = 4 * 1024 * 1024

/** Each set of segments that is listed by a manifest. */
export interface PresentationSets {
  hls: Presentation | null
  dash: Presentation | null
  smooth: Presentation | null
}

/**
 * Called after all outputs were found to be complete. Resolves when everything is stored except what the commit writes.
 */
export async function finalizePackage(
  segments: Segmenter,
  plan: Plan,
  input: PackageInput,
): Promise<Pick<FinishPost, 'objects' | 'written' | 'warnings'>> {
  const packaging = plan.packaging
  if (packaging === null) throw new TaskError('internal', 'A plan of single files has no manifests.')
  const { sets: media, warnings: limits } = buildPresentations(
    packaging,
    segments.renditions,
    plan.cues === null ? [] : input.cues,
  )
  const { sets, files, vtt } = addSidecars(packaging, media, segments, {
    accepts: input.task.accepts,
    // Captions of a job that writes Smooth Streaming alone are in its frames.
    sidecars: packaging.hls === null && !packaging.dash ? [] : sidecarTracks(plan.sidecars, input.captions),
  })
  segments.enqueueFiles(files)
  const inDirectory = [...manifestObjects(packaging, sets), ...vtt]
  const { tar } = segments
  const documentFiles = inDirectory.map(({ path, body }) => ({ path, content: inMemoryObject(Buffer.from(body)) }))
  const tarred = await tar?.finish([...files, ...documentFiles])
  const index = tarred && tar ? { name: tarred.path.split('/').at(-1)!, ranges: tar.layout.ranges } : null
  const measured = await input.measure(sets)
  const placed = [...inDirectory, ...(index === null ? [] : overTar(sets, index))].map((document) => {
    const path = joinPath(packaging.directory, document.path)
    const found = measured.get(document.path)
    return { ...document, path, ...(found === undefined ? {} : { media: found }) }
  })
  const objects = [...input.files, ...(await segments.finish()), ...(tarred ? [tarred] : [])]
  const known = [
    ...objects,
    ...reportedSegments(packaging, segments.renditions, objects),
    ...reportedSidecars(packaging, files),
    ...placed.map(reportedManifest),
  ]
  const warnings = [...plan.warnings, ...limits, ...subtitleWarnings(packaging, segments, sets, input.task)]
  const written = [...placed, buildJobReport(packaging, warnings, input, sets, known)]
  return { objects, written, warnings }
}

function buildPresentations(
  packaging: PackagingPlan,
  renditions: readonly RecordedRendition[],
  cues: readonly Cue[],
): { sets: PresentationSets; warnings: Warning[] } {
  const warnings: Warning[] = []
  const made = new Map<SegmentForm, Presentation>()
  const set = (form: SegmentForm): Presentation => {
    const known = made.get(form)
    if (known !== undefined) return known
    // The times in the cue sections are on the clock of the segments.
    const found = segmentForms[form].listsCues ? cueEvents(cues, segmentForms[form].originTicks) : []
    const limited = limitedCues(found)
    warnings.push(...limited.warnings)
    const presentation = buildPresentation(packaging, renditions, form, limited.events)
    made.set(form, presentation)
    return presentation
  }
  const sets = {
    hls: packaging.hls === null ? null : set(packaging.hls),
    dash: packaging.dash ? set('cmaf') : null,
    smooth: packaging.smooth === null ? null : set('smooth'),
  }
  // Transport streams and CMAF have the same cues: duplicate warnings are merged.
  return { sets, warnings: mergeWarnings([], warnings) }
}

/** The same sets with the sidecar files. Smooth manifests list none of them. */
function addSidecars(
  packaging: PackagingPlan,
  { hls, dash, smooth }: PresentationSets,
  segments: Segmenter,
  { accepts, sidecars }: { accepts: TaskDescription['accepts']; sidecars: TextTrackSource[] },
): { sets: PresentationSets; files: SidecarFile[]; vtt: WrittenObject[] } {
  const leading = hls ?? dash ?? smooth
  const video = leading?.video[0]
  if (leading === null || video === undefined) return { sets: { hls, dash, smooth }, files: [], vtt: [] }
  const { attemptDirectory, captions, subtitles, sheets, posters } = segments
  // The duration of the video: audio may be longer.
  const duration = trackSeconds(video)
  const channels = packaging.textTracks ? captions.end(duration).channels : []
  const origin = segmentForms[video.form].originTicks
  const text = buildTextTracks(
    [
      ...captionTracks(channels, packaging.captionLanguages),
      ...(accepts?.subtitles === true
        ? subtitleTracks(packaging.subtitles, subtitles, duration, segments.secondsBefore)
        : []),
      ...sidecars,
    ],
    { own: attemptDirectory, video, origin },
  )
  const thumbnails =
    packaging.thumbnails === null
      ? null
      : buildThumbnailFiles(packaging.thumbnails, { sheets, posters }, { own: attemptDirectory, duration })
  const add = (presentation: Presentation | null) =>
    presentation && { ...presentation, text: text.tracks, thumbnails: thumbnails?.track ?? null }
  return {
    sets: { hls: add(hls), dash: hls === dash ? add(hls) : add(dash), smooth },
    files: [...text.files, ...(thumbnails?.files ?? [])],
    vtt: thumbnails === null ? [] : [thumbnails.vtt],
  }
}

function subtitleWarnings(
  { subtitles }: PackagingPlan,
  segments: Segmenter,
  { hls, dash }: PresentationSets,
  { accepts }: TaskDescription,
): Warning[] {
  const listed = new Set([hls, dash].flatMap((set) => set?.text.map(({ id }) => id) ?? []))
  return subtitles.flatMap(({ id, stream, teletext }, at): Warning[] => {
    if (segments.subtitles[at]?.truncated === true)
      return [
        {
          code: 'subtitles_truncated',
          message: `The subtitles of stream ${stream} of the source have more than 16 MB of text; the rest is left out.`,
        },
      ]
    if (listed.has(id) || accepts?.subtitles !== true) return []
    const [code, kind] = teletext
      ? (['teletext_left_out', 'teletext'] as const)
      : (['text_subtitles_left_out', 'text'] as const)
    return [
      {
        code,
        message: `Stream ${stream} of the source (${kind}) has no subtitle during the video: it gives no track.`,
      },
    ]
  })
}

function reportedSidecars(packaging: PackagingPlan, files: readonly SidecarFile[]): ReportedObject[] {
  return files
    .filter(({ role }) => role !== 'poster') // the commit completes the poster, and it is listed already
    .map(({ path, role, content: { bytes, sha256 } }) => ({
      path: joinPath(packaging.directory, path),
      size: bytes,
      sha256,
      role,
    }))
}

/** Paths below the packaging directory. */
function manifestObjects(packaging: PackagingPlan, { hls, dash, smooth }: PresentationSets): WrittenObject[] {
  const manifest = (presentation: Presentation): WrittenObject => ({
    path: `${packaging.smooth}/Manifest`,
    content_type: 'application/vnd.ms-sstr+xml',
    profile: null,
    role: 'manifest',
    body: smoothManifest(presentation),
    stage: 2,
  })
  return [
    ...(hls === null ? [] : hlsObjects(hls)),
    ...(dash === null ? [] : dashObjects(dash)),
    ...(smooth === null ? [] : [manifest(smooth)]),
  ]
}

function overTar({ hls, dash }: PresentationSets, index: TarIndex): WrittenObject[] {
  return [
    ...(hls === null ? [] : tarDocuments(hls, index, { hls: true, dash: false })),
    ...(dash === null ? [] : tarDocuments(dash, index, { hls: false, dash: true })),
  ]
}

/** Segments and init segments, without those that the commit completes and that are listed already. */
function reportedSegments(
  packaging: PackagingPlan,
  renditions: readonly RecordedRendition[],
  objects: readonly FinishedObject[],
): ReportedObject[] {
  const listed = new Set(objects.map(({ path }) => path))
  return renditions
    .flatMap(({ directory, recorded }) =>
      [...(recorded.init === null ? [] : [recorded.init]), ...recorded.segments].map(({ uri, bytes, sha256 }) => ({
        path: joinPath(joinPath(packaging.directory, directory), uri),
        size: bytes,
        sha256,
        role: 'media' as const,
      })),
    )
    .filter(({ path }) => !listed.has(path))
}

function reportedManifest({ path, role, body }: WrittenObject): ReportedObject {
  const { bytes, sha256 } = inMemoryObject(Buffer.from(body))
  return { path, role, size: bytes, sha256 }
}

function buildJobReport(
  packaging: PackagingPlan,
  warnings: readonly Warning[],
  { task, sourceSize, ffmpegVersion }: PackageInput,
  sets: PresentationSets,
  objects: readonly ReportedObject[],
): WrittenObject {
  const input = {
    jobId: task.job_id,
    source: { name: task.input_name, size: sourceSize, etag: null },
    // Removes the parts of addresses that could be secret.
    configuration: redactUnknownValue(task.config),
    ffmpegVersion,
    presentations: [...new Set([sets.hls, sets.dash, sets.smooth])].filter((each) => each !== null),
    warnings,
  }
  const fullReport = jobReportJson({ ...input, objects })
  const listed = new Set(['media', 'captions'])
  // If the report is too long (a day of short segments), it leaves out the segments, which the playlists list.
  const body =
    fullReport.length <= MAX_REPORT_CHARS
      ? fullReport
      : jobReportJson({ ...input, objects: objects.filter(({ role }) => !listed.has(role)) })
  const path = joinPath(packaging.directory, 'job.json')
  return { path, content_type: 'application/json', profile: null, role: 'report', body, stage: 2 }
}
