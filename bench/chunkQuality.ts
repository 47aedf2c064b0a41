// In charge of: comparing the HLS outputs of two jobs: frames, their times, the decoded sound, and SSIM to the source, over
// all and in the seconds around the joins of chunks.
// Not in charge of: the jobs (rows/chunks.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PublicStatus } from '#contract/api/status.ts'
import type { Engine } from '../transcoder/ffmpeg/locate.ts'
import { colorMatrix, ffmpeg } from './ffmpeg.ts'

const run = promisify(execFile)

interface Rung {
  output: string
  width: number
  height: number
}

interface VideoFile {
  /** Presentation times of all frames, as text. */
  times: string[]
  /** SSIM of each frame to the source. */
  ssim: number[]
}

export interface Outputs {
  videos: Map<string, VideoFile>
  /** Digest of the decoded sound of all audio playlists. */
  audio: string
}

export async function readOutputs(
  engine: Engine,
  { status, source, rungs, dir }: { status: PublicStatus; source: string; rungs: readonly Rung[]; dir: string },
): Promise<Outputs> {
  const videos = new Map<string, VideoFile>()
  const audio = createHash('sha256')
  const playlists = status.outputs.filter(({ path }) => path.endsWith('/playlist.m3u8'))
  for (const { path, url } of playlists.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const file = join(dir, 'joined.mp4')
    await writeFile(file, await fetchPlaylist(url ?? ''))
    const rung = rungs.find(({ output }) => path.split('/').includes(output))
    if (rung === undefined) audio.update(await soundOf(engine, file))
    else
      videos.set(rung.output, {
        times: await timesOf(engine, file),
        ssim: await ssimOf(engine, source, file, rung, dir),
      })
  }
  if (videos.size !== rungs.length) throw new Error(`${videos.size} of ${rungs.length} renditions have a playlist`)
  return { videos, audio: audio.digest('hex') }
}

/** The init segment and the segments, one after the other. */
async function fetchPlaylist(url: string): Promise<Buffer> {
  const text = await fetchBytes(url)
  const uris = String(text)
    .split('\n')
    .map((line) => (line.startsWith('#EXT-X-MAP:') ? /URI="([^"]+)"/.exec(line)?.[1] : line))
    .filter((line): line is string => line !== undefined && line !== '' && !line.startsWith('#'))
  const pieces: Buffer[] = []
  for (const uri of uris) pieces.push(await fetchBytes(new URL(uri, url).href))
  return Buffer.concat(pieces)
}

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${new URL(url).pathname}: ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

async function timesOf(engine: Engine, file: string): Promise<string[]> {
  const show = ['-select_streams', 'v:0', '-show_entries', 'packet=pts', '-of', 'csv=p=0']
  const { stdout } = await run(engine.ffprobe, ['-v', 'error', ...show, file], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
    .split(/[\s,]+/)
    .filter(Boolean)
    .toSorted((a, b) => Number(a) - Number(b))
}

async function soundOf(engine: Engine, file: string): Promise<string> {
  const { stdout } = await run(engine.ffmpeg, ['-v', 'error', '-i', file, '-map', '0:a', '-f', 'md5', '-'])
  return stdout.trim()
}

async function ssimOf(
  engine: Engine,
  source: string,
  file: string,
  { width, height }: Rung,
  dir: string,
): Promise<number[]> {
  const [from, to] = [await colorMatrix(engine.ffprobe, source), await colorMatrix(engine.ffprobe, file)]
  const alike = (matrix: string): string =>
    `zscale=w=${width}:h=${height}:filter=lanczos:min=${matrix}:m=bt709:rin=limited:r=limited,format=yuv420p`
  const log = join(dir, 'ssim.log')
  await ffmpeg(engine.ffmpeg, [
    ...['-loglevel', 'error', '-i', file, '-i', source, '-filter_complex'],
    `[0:v]${alike(to)}[a];[1:v]${alike(from)}[b];[a][b]ssim=stats_file=${log}`,
    ...['-an', '-f', 'null', '-'],
  ])
  const text = await readFile(log, 'utf8')
  return [...text.matchAll(/All:([0-9.]+)/g)].map(([, value]) => Number(value))
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Of the frames within half a second of each join: the first second of a chunk starts there. */
export function aroundJoins(ssim: readonly number[], joins: readonly number[], rate: number): number[] {
  const half = Math.round(rate / 2)
  return joins.map((at) => mean(ssim.slice(Math.round(at * rate) - half, Math.round(at * rate) + half)))
}
