// In charge of: the files next to the segments: thumbnail sheets and the poster, stored and described for the
// manifests.
// Not in charge of: reading them from ffmpeg (ffmpeg/jpegReader.ts), WebVTT tracks (webvttTracks.ts), manifests
// (manifests/).
import { createHash } from 'node:crypto'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import type { WrittenObject } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import type { ThumbnailTrack } from '../manifests/presentation/presentation.ts'
import { thumbnailVtt } from '../manifests/webvtt/webvttWriter.ts'
import type { ThumbnailPlan } from '#contract/task/plan/packagingPlan.ts'
import { thumbnailCount } from '../plan/video/thumbnailPlan.ts'
import { StoredBytes } from '../upload/segmentBuffer.ts'
import type { UploadQueue } from '../upload/uploadQueue.ts'

/** RFC 8216bis, 3.1.4, and the registration of WebVTT. */
export const WEBVTT_TYPE = 'text/vtt'

export interface SidecarFile {
  /** Below the packaging directory. */
  path: string
  contentType: string
  /** A poster has a permanent name: the commit writes it. */
  role: 'captions' | 'media' | 'poster'
  content: StoredBytes
}

export function inMemoryObject(bytes: Buffer): StoredBytes {
  return new StoredBytes(bytes.length, createHash('sha256').update(bytes).digest('hex'), bytes)
}

/** `directory`: of the packaging. */
export function enqueueSidecars(uploads: UploadQueue, directory: string, files: readonly SidecarFile[]): void {
  for (const { path, contentType, content, role } of files) {
    const commitRole = role === 'poster' ? role : undefined
    uploads.enqueue({ path: joinPath(directory, path), contentType, profile: null, content, commitRole })
  }
}

/** JFIF. */
const JPEG_TYPE = 'image/jpeg'

export interface ThumbnailFiles {
  track: ThumbnailTrack
  files: SidecarFile[]
  /** Maps each thumbnail to its position in a sheet; written by the commit under a permanent name. */
  vtt: WrittenObject
}

/** JPEGs; null = they are incomplete. */
export interface Pictures {
  sheets: readonly Uint8Array[] | null
  posters: readonly Uint8Array[] | null
}

/** `duration`: seconds that the presentation lasts. Throws output_incomplete if a sheet or the poster is missing. */
export function requirePictures(
  plan: ThumbnailPlan,
  { sheets, posters }: Pictures,
  duration: number,
): { sheets: readonly Uint8Array[]; poster: Uint8Array } {
  const expected = Math.ceil(thumbnailCount(plan, duration) / (plan.columns * plan.rows))
  const [poster] = posters ?? []
  if (sheets?.length !== expected || poster === undefined || posters?.length !== 1)
    throw new TaskError(
      'output_incomplete',
      `There are ${sheets?.length ?? 0} sheets of thumbnails instead of ${expected}, and ${posters?.length ?? 0} posters.`,
    )
  return { sheets, poster }
}

/** `duration`, errors: as `requirePictures`. */
export function buildThumbnailFiles(
  plan: ThumbnailPlan,
  pictures: Pictures,
  { own: attemptDirectory, duration }: { own: string; duration: number },
): ThumbnailFiles {
  const { width, height, columns, rows, intervalSeconds } = plan
  const { sheets, poster } = requirePictures(plan, pictures, duration)
  const sheetSeconds = columns * rows * intervalSeconds
  const directory = 'thumbnails'
  const files: SidecarFile[] = []
  const addFile = (uri: string, picture: Uint8Array, role: SidecarFile['role'] = 'media') => {
    const content = inMemoryObject(Buffer.from(picture))
    files.push({ path: joinPath(directory, uri), contentType: JPEG_TYPE, role, content })
    return { uri, bytes: content.bytes, sha256: content.sha256 }
  }
  const at = (seconds: number) => Math.round(Math.min(seconds, duration) * 1000)
  const track: ThumbnailTrack = {
    directory,
    width,
    height,
    columns,
    rows,
    intervalSeconds,
    sheets: sheets.map((sheet, index) => {
      const start = at(index * sheetSeconds)
      const stored = addFile(`${attemptDirectory}/${String(index + 1).padStart(5, '0')}.jpg`, sheet)
      return { ...stored, start, duration: at((index + 1) * sheetSeconds) - start }
    }),
    vtt: { uri: 'thumbnails.vtt' },
    poster: addFile('poster.jpg', poster, 'poster'),
  }
  const vtt = {
    path: joinPath(directory, track.vtt.uri),
    content_type: WEBVTT_TYPE,
    profile: null,
    role: 'storyboard' as const,
    body: thumbnailVtt(track, duration),
    stage: 1 as const,
  }
  return { track, files, vtt }
}
