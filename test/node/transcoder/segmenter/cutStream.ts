// In charge of: streams of a real encoder and the segments that cutters make of them, for tests.
// Not in charge of: expectations.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Cutter, KeyFrameRange } from '../../../../transcoder/segmenter/cutters/cutter.ts'
import type { Engine } from '../../../../transcoder/ffmpeg/locate.ts'
import { Random } from '../../../support/seededRandom.ts'

export interface Segment {
  bytes: Buffer
  start: number
  duration: number
  frames: number
  keys: KeyFrameRange[]
}

/** What ffmpeg writes to its standard output. `args` without words that contain spaces. */
export async function encodeToBuffer(engine: Engine, args: string): Promise<Buffer> {
  const words = `-nostdin -v error -fflags +bitexact ${args} pipe:1`.split(' ').filter((word) => word !== '')
  const options = { encoding: 'buffer', maxBuffer: 2 ** 28 } as const
  return (await promisify(execFile)(engine.ffmpeg, words, options)).stdout
}

/** A flash and a beep at every full second. */
export function flashSource(seconds: number, rate = '25', size = '160x90'): string {
  const picture = `-f lavfi -i testsrc2=s=${size}:r=${rate}:d=${seconds},drawbox=c=white:t=fill:enable='lt(mod(t\\,1)\\,0.03)'`
  const audio = `-f lavfi -i aevalsrc=exprs='if(lt(mod(t\\,1)\\,0.05)\\,0.5*sin(2*PI*1000*t)\\,0)':s=48000:d=${seconds}`
  return `${picture.replaceAll("'", '')} ${audio.replaceAll("'", '')}`
}

/** Feeds a cutter with chunks of uneven size. */
export function cutSegments(
  cutter: Cutter,
  stream: Uint8Array,
  options: { videoSegments?: number; pieceBytes?: number } = {},
): { init: Buffer | null; segments: Segment[] } {
  const { videoSegments = null, pieceBytes = 0 } = options
  const cuts = []
  const random = new Random(7)
  for (let at = 0; at < stream.length;) {
    const size = pieceBytes > 0 ? pieceBytes : random.whole(1, 60_000)
    cuts.push(...cutter.push(stream.subarray(at, at + size)))
    at += size
  }
  cuts.push(...cutter.end(videoSegments))
  let init: Buffer | null = null
  const segments: Segment[] = []
  let parts: Uint8Array[] = []
  for (const event of cuts) {
    if (event.kind === 'init') init = Buffer.from(event.bytes)
    else if (event.kind === 'media') parts.push(event.bytes)
    else {
      const { start, duration, frames, keys } = event
      segments.push({ bytes: Buffer.concat(parts), start, duration, frames, keys })
      parts = []
    }
  }
  return { init, segments }
}
