// In charge of: how much the outputs of a job resemble its source, and whether two runs of a job do so equally.
// Not in charge of: frames, times and samples (chunkKills.ts).
import { writeFile } from 'node:fs/promises'
import type { PublicStatus } from '#contract/api/status.ts'
import { fetchPieces } from '../../support/manifests/decodedPresentation.ts'
import { frameSimilarities } from '../../support/media/frameSimilarity.ts'
import { probeStream } from '../../support/media/media.ts'

/** How far two runs of an encoder that is not deterministic may differ. */
const MOST = { similarity: 0.003, ofSecond: 0.01, bytes: 0.02 }

export interface PlaylistQuality {
  bytes: number
  /** SSIM of all frames, and of those of each second. */
  similarity: number
  seconds: number[]
}

/** Of the video playlists, by path. `file`: gives the path of a new temporary file. */
export async function qualityOf(
  status: PublicStatus,
  source: { path: string; rate: number },
  file: (name: string) => string,
): Promise<Record<string, PlaylistQuality>> {
  const found: Record<string, PlaylistQuality> = {}
  for (const { path, url } of status.outputs) {
    if (!path.endsWith('/playlist.m3u8') || path.includes('audio')) continue
    const bytes = Buffer.concat(await fetchPieces(url ?? ''))
    const joined = file('joined.mp4')
    await writeFile(joined, bytes)
    const { width, height } = await probeStream(joined, 'video')
    const scaled = ['-f', 'lavfi', '-i', `movie=${source.path},scale=${width}:${height}`]
    const frames = await frameSimilarities(joined, scaled)
    const starts = Array.from({ length: Math.ceil(frames.length / source.rate) }, (_, second) => second * source.rate)
    const seconds = starts.map((start) => mean(frames.slice(start, start + source.rate)))
    found[path] = { bytes: bytes.length, similarity: mean(frames), seconds }
  }
  return found
}

/** @returns a sentence for each playlist of `expected` that `found` has in another quality */
export function qualityDifferences(
  found: Record<string, PlaylistQuality>,
  expected: Record<string, PlaylistQuality>,
): string[] {
  return Object.entries(expected).flatMap(([path, one]) => {
    const other = found[path]
    if (other === undefined) return [`${path}: not there`]
    const ofSecond = Math.max(...one.seconds.map((second, at) => Math.abs(second - (other.seconds[at] ?? 0))))
    const bytes = Math.abs(other.bytes / one.bytes - 1)
    const isLike =
      Math.abs(other.similarity - one.similarity) <= MOST.similarity && ofSecond <= MOST.ofSecond && bytes <= MOST.bytes
    const sizes = `${other.bytes} bytes instead of ${one.bytes}`
    return isLike
      ? []
      : [`${path}: SSIM ${other.similarity} instead of ${one.similarity}, ${ofSecond} in a second, ${sizes}`]
  })
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
