// In charge of: how a row's job is changed until it can be divided: clips are a few seconds long, and a row measures one file
// of a source that may have no index.
// Not in charge of: making the job (dividedRun.ts), whether it can be divided (transcoder/plan/division/).
import { writeFile } from 'node:fs/promises'
import { ffmpeg } from '../support/media/media.ts'
import { joinedSegments } from '../support/transcoder/segmentedTask.ts'
import type { JobChange, Row } from './row.ts'

/** The changes that a job has so far. */
export interface DividedForm {
  /** GOPs of 0.1 s: two chunks of a clip that lasts less than a second. */
  shortGops: boolean
  /** CMAF segments, which are joined and copied into one file again. */
  segments: boolean
  /** The streams of the source, copied into Matroska. */
  indexed: boolean
}

export const UNCHANGED: DividedForm = { shortGops: false, segments: false, indexed: false }

/** Why a job was not divided, and what helps. */
const REMEDIES: readonly { reason: RegExp; change: keyof DividedForm }[] = [
  { reason: /^$|too short for two chunks/, change: 'shortGops' },
  { reason: /single files/, change: 'segments' },
  { reason: /has no index of its frames/, change: 'indexed' },
]

/** Parameters of rows that measure the file itself. */
export const OF_FILES: ReadonlySet<string> = new Set([
  'output_container',
  'bucket_output_path',
  'videoProfiles[].output',
])
/** Sources that Matroska cannot replace: what their rows measure is not carried over. */
const OF_TRANSPORT_STREAMS: ReadonlySet<string | undefined> = new Set(['programs', 'cues'])

/** null = nothing helps. */
export function nextForm(
  row: Pick<Row, 'path' | 'job' | 'source'>,
  form: DividedForm,
  reason: string,
): DividedForm | null {
  const change = REMEDIES.find((each) => each.reason.test(reason))?.change
  if (change === undefined || form[change]) return null
  if (change === 'segments' && (OF_FILES.has(row.path) || row.job['output_container'] === 'ts')) return null
  if (change === 'indexed' && OF_TRANSPORT_STREAMS.has(row.source)) return null
  return { ...form, [change]: true }
}

/** Seconds of the longest chunk: a segment, or as long as the parts of a clip that differ. */
export function chunkSeconds({ source }: Pick<Row, 'source'>): number {
  return source === 'uneven' ? 4 : 0.001
}

/** What the document says about a row that was changed. */
export function formWords({ segments, indexed }: DividedForm): string {
  return [...(segments ? ['as CMAF segments'] : []), ...(indexed ? ['source copied into Matroska'] : [])].join(', ')
}

/** GOPs are segments, so that a clip has several. */
export function jobInForm(job: JobChange, { shortGops, segments }: DividedForm): JobChange {
  return {
    segment_length: 0.01,
    ...(shortGops ? { gop_length: 0.1 } : {}),
    ...job,
    ...(shortGops ? { segment_length: 0.01 } : {}),
    ...(segments ? { segmented_output_hls: true, segment_length: 0.01, bucket_output_path: 'show' } : {}),
  }
}

/** null = Matroska cannot carry its streams. */
export function indexedSource(source: string): Promise<string | null> {
  const copy = `${source}.mkv`
  return ffmpeg(['-i', source, '-map', '0', '-c', 'copy', copy]).then(
    () => copy,
    () => null,
  )
}

/** A file for each video, with all audio, as a single-file job makes it. */
export async function filesOfSegments(
  objects: ReadonlyMap<string, Buffer>,
  room: string,
): Promise<{ path: string; file: string }[]> {
  const playlists = [...objects.keys()].filter((path) => /(?:video|audio)_\d+\/playlist\.m3u8$/.test(path)).toSorted()
  const streams = new Map<string, string>()
  for (const playlist of playlists) {
    const file = `${room}_${playlist.replaceAll('/', '_')}.mp4`
    await writeFile(file, joinedSegments(objects, playlist))
    streams.set(playlist, file)
  }
  const sound = [...streams].filter(([path]) => path.includes('audio_')).map(([, file]) => file)
  const files: { path: string; file: string }[] = []
  for (const [path, picture] of [...streams].filter(([name]) => name.includes('video_'))) {
    const inputs = [picture, ...sound]
    const file = `${picture}.whole.mp4`
    const maps = inputs.flatMap((_, index) => ['-map', `${index}`])
    await ffmpeg([...inputs.flatMap((input) => ['-i', input]), ...maps, '-c', 'copy', file])
    files.push({ path, file })
  }
  return files
}
