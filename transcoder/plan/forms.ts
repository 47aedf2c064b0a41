// In charge of: what sets the containers of single files, and the forms of segments, apart from each other.
// Not in charge of: which of them a job has (contract/containers.ts, packagingPlan.ts), their muxers' options (argv/ffmpegArgs.ts, argv/segmentArgs.ts).
import type { SegmentForm } from '#contract/codecs.ts'
import { containers, FILE_CONTAINERS, fileContainers, type FileContainer } from '#contract/containers.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'

interface FileRules {
  /** Our multiplexer writes it; else ffmpeg does. */
  isMultiplexed: boolean
  /** It is signalled as a service, and can carry cues and subtitles of the source as they are. */
  hasService: boolean
  /** Bytes of the container, as a factor. */
  overhead: number
}

export const fileRules: Readonly<Record<FileContainer, FileRules>> = {
  mp4: { isMultiplexed: false, hasService: false, overhead: 1.005 },
  ts: { isMultiplexed: true, hasService: true, overhead: 1.05 },
}

/** Its tables can be read, and may be broken. `container`: of any planned file. */
export function isMp4(container: string): boolean {
  return container === 'mp4' || container === 'm4a'
}

/** `container`: of any planned file, audio files included. */
export function isMultiplexed(container: string | undefined): boolean {
  return FILE_CONTAINERS.some((known) => known === container && fileRules[known].isMultiplexed)
}

/** The container of a job's single files; null = its output is segmented. */
export function fileContainerOf({ container, packaging }: JobSpec): FileContainer | null {
  return packaging === null ? (containers[container].file ?? null) : null
}

/**
 * Presentation time 0 on the 90 kHz clock of every transport stream: 10 s. Encoders' delays lie before it, and streams that
 * are written apart keep their distance.
 */
export const TS_ORIGIN_TICKS = 900_000

interface FormRules {
  title: string
  /** The single file that its segments are parts of. */
  container: FileContainer
  extension: string
  /** A video rendition has the audio of its profile inside. */
  carriesAudio: boolean
  /** The clock's time at the first frame, in ticks of 90 kHz. */
  originTicks: number
  /** Its manifests list cues. */
  listsCues: boolean
}

export const segmentForms: Readonly<Record<SegmentForm, FormRules>> = {
  cmaf: { title: 'CMAF', container: 'mp4', extension: 'm4s', carriesAudio: false, originTicks: 0, listsCues: true },
  ts: {
    title: 'transport streams',
    container: 'ts',
    extension: 'ts',
    carriesAudio: true,
    originTicks: TS_ORIGIN_TICKS,
    listsCues: true,
  },
  smooth: {
    title: 'Smooth Streaming',
    container: 'mp4',
    extension: '',
    carriesAudio: false,
    originTicks: 0,
    listsCues: false,
  },
}

export function segmentContentType(form: SegmentForm, kind: 'video' | 'audio'): string {
  const { contentType } = fileContainers[segmentForms[form].container]
  // Audio alone is audio in MP4; a transport stream of it is still "video".
  return segmentForms[form].container === 'mp4' && kind === 'audio' ? 'audio/mp4' : contentType
}
