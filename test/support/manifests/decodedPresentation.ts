// In charge of: HLS outputs of a job as players read them: fetched, joined, decoded.
// Not in charge of: what they should be.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { PublicStatus } from '#contract/api/status.ts'
import { decodeFrames, ffmpeg } from '../media/media.ts'
import { listSegments } from './playlistSegments.ts'

export interface DecodedPlaylist {
  /** The number of frames, and their times as text; none of audio. */
  frames: number
  times: string
  /** Digest of the decoded samples. */
  samples: string
  /** Digests of the init segment and the media segments, in the order of the playlist. */
  segments: string[]
}

/** By path of the playlist. `file`: gives the path of a new temporary file. Throws where a segment is missing. */
export async function decodePresentation(
  status: PublicStatus,
  file: (name: string) => string,
): Promise<Record<string, DecodedPlaylist>> {
  const found: Record<string, DecodedPlaylist> = {}
  for (const playlist of status.outputs.filter(({ path }) => path.endsWith('/playlist.m3u8'))) {
    const pieces = await fetchPieces(playlist.url ?? '')
    const joined = file('joined.mp4')
    await writeFile(joined, Buffer.concat(pieces))
    const isAudio = playlist.path.includes('audio')
    const frames = isAudio ? [] : await decodeFrames(joined)
    found[playlist.path] = {
      frames: frames.length,
      times: frames.map((frame) => frame.best_effort_timestamp_time).join(),
      samples: digest(isAudio ? await ffmpeg(['-i', joined, '-f', 'f32le', '-']) : Buffer.alloc(0)),
      segments: pieces.map(digest),
    }
  }
  return found
}

/** The init segment and the media segments of a playlist, in its order. */
export async function fetchPieces(playlist: string): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for (const { uri, range } of listSegments(await (await fetch(playlist)).text())) {
    const response = await fetch(new URL(uri, playlist))
    if (response.status !== 200) throw new Error(`${uri}: ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    pieces.push(range === null ? bytes : bytes.subarray(range.offset, range.offset + range.bytes))
  }
  return pieces
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
