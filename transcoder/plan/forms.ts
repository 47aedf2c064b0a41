// In charge of: how the containers of single files, and the forms of segments, differ.
// Not in charge of: which of them a job has (contract/containers.ts, packagingPlan.ts), their muxers' options
// (argv/ffmpegArgs.ts, argv/segmentArgs.ts).
import type { SegmentForm } from '#contract/codecs.ts'
import { containers, FILE_CONTAINERS, fileContainers, type FileContainer } from '#contract/containers.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'

interface FileRules {
  /** Written by tsMultiplexer/multiplexer.ts; otherwise by ffmpeg. */
  isMultiplexed: boolean
  /** Signalled as a service. It can carry cues and copied subtitles of the source. */
  hasService: boolean
  /** Overhead of the container, as a factor. */
  overhead: number
}

export const fileRules: Readonly<Record<FileContainer, FileRules>> = {
  mp4: { isMultiplexed: false, hasService: false, overhead: 1.005 },
  ts: { isMultiplexed: true, hasService: true, overhead: 1.05 },
}

/** The file has MP4 tables, which can be read and checked. `container`: of any planned file. */
export function isMp4(container: string): boolean {
  return container === 'mp4' || container === 'm4a'
}

/** The muxer completes the header at the end: lengths, an index, a checksum. `container`: of any planned file. */
export function isRewritten(container: string): boolean {
  return ['mp3', 'webm', 'flac', 'wav'].includes(container)
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
 * Presentation time 0 on the 90 kHz clock of every transport stream: 10 s. This leaves room for encoder delays before
 * it, and keeps streams in sync that are written separately.
 */
export const TS_ORIGIN_TICKS = 900_000

interface FormRules {
  title: string
  /** The container of single files that its segments correspond to. */
  container: FileContainer
  extension: string
  /** A video rendition contains the audio of its profile. */
  carriesAudio: boolean
  /** The clock's time at the first frame, in 90 kHz ticks. */
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
  // Audio without video is "audio" in MP4, but a transport stream of it is still "video".
  return segmentForms[form].container === 'mp4' && kind === 'audio' ? 'audio/mp4' : contentType
}
