// In charge of: job.json: a job's input and results, for people and programs after the service has deleted the job.
// Not in charge of: measuring, removing secrets from the configuration (contract/job/redact.ts).
import type { Warning } from '#contract/errors.ts'
import type { WrittenObject } from '#contract/task/protocol.ts'
import type { AudioTrack, Presentation, TextTrack, VideoTrack } from './presentation/presentation.ts'
import { averageRate, peakRate, presentationTargetDuration } from './presentation/segmentBitrates.ts'

export interface ReportedObject {
  /** Relative to the job's destination. */
  path: string
  size: number
  /** Hex; null for objects that are uploaded after this report is written. */
  sha256: string | null
  role: WrittenObject['role']
}

export interface JobReportInput {
  jobId: string
  /** null where the source does not state it. */
  source: { name: string; size: number | null; etag: string | null }
  /** As executed, without secrets. */
  configuration: unknown
  /** The version in the output of `ffmpeg -version`. */
  ffmpegVersion: string
  objects: readonly ReportedObject[]
  presentations: readonly Presentation[]
  warnings: readonly Warning[]
}

/** JSON with sorted keys, and objects sorted by path: the same job gives the same bytes. */
export function jobReportJson(facts: JobReportInput): string {
  const { jobId, source, configuration, ffmpegVersion, objects, presentations, warnings } = facts
  const body = {
    version: 1,
    job_id: jobId,
    source,
    configuration: sortKeys(configuration),
    ffmpeg_version: ffmpegVersion,
    presentations: presentations.map(presentationReport),
    objects: objects
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, size, sha256, role }) => ({ path, size, sha256, role })),
    warnings: warnings.map(sortKeys),
  }
  return `${JSON.stringify(body, null, 2)}\n`
}

/** Sorts keys alphabetically at every depth. The order of lists has a meaning and is kept. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}

function presentationReport(presentation: Presentation): unknown {
  const { video, audio, text, duration, segmentSeconds } = presentation
  const target = presentationTargetDuration(presentation)
  return {
    form: (video[0] ?? audio[0])?.form ?? null,
    duration_seconds: duration,
    segment_seconds: segmentSeconds,
    renditions: [...video, ...audio, ...text].map((track) => renditionReport(track, target)),
    cues: presentation.cues.map(({ id, start, duration: length, kind, eventId }) => {
      return { id, start_seconds: start, duration_seconds: length, kind, event_id: eventId }
    }),
  }
}

function renditionReport(track: VideoTrack | AudioTrack | TextTrack, target: number): unknown {
  const { segments, timescale } = track
  const last = segments.at(-1)
  return {
    id: track.id,
    kind: track.kind,
    profile: track.kind === 'text' ? null : track.profile,
    directory: track.directory,
    codecs: track.kind === 'text' ? [] : track.codecs,
    duration_seconds: last === undefined ? 0 : (last.start + last.duration) / timescale,
    segments: segments.length,
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Bits per second, as in EXT-X-STREAM-INF. */
    peak_bandwidth: peakRate(track, target),
    average_bandwidth: averageRate(track),
  }
}
