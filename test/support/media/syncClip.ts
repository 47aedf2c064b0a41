// In charge of: clips with a flash and a beep in every second, and the offset between audio and video of a file.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sandboxEnvironment } from '../../../transcoder/ffmpeg/sandbox.ts'
import { testFfmpeg, ffmpeg, decodeFrames } from './media.ts'

const run = promisify(execFile)

/** Frames of one period, which lasts one second, or 1.001 s at the rates of NTSC. */
const periods = { '25': 25, '30000/1001': 30, '60000/1001': 60 } as const
export type SyncClipRate = keyof typeof periods

export interface SyncClipOptions {
  rate: SyncClipRate
  seconds: number
  /** Seconds by which all audio is delayed against the frames that it belongs to. */
  audioLate: number
  /** ffmpeg's name of an audio encoder. */
  audioCodec: string
  /** Packets are copied from this second on, without decoding: it is not a key frame, so an MP4 gets an edit list. */
  trim?: number
}

/** White for two frames and a tone of 80 ms, at a fifth of each period. */
export async function makeSyncClip(path: string, options: SyncClipOptions): Promise<string> {
  const { rate, seconds, audioLate, audioCodec, trim } = options
  const period = periods[rate]
  const [num, den = '1'] = rate.split('/')
  const long = (period * Number(den)) / Number(num)
  const first = period / 5
  const picture = `color=black:s=64x64:r=${rate}:d=${seconds},drawbox=c=white:t=fill:enable='between(mod(n,${period}),${first},${first + 1})'`
  const audio = `aevalsrc=exprs='0.7*sin(2*PI*1000*t)*between(mod(t,${long}),${long / 5},${long / 5 + 0.08})':s=48000:d=${seconds}`
  const whole = trim === undefined ? path : path.replace(/(\.\w+)$/, '_whole$1')
  await ffmpeg([
    ...[...(audioLate < 0 ? ['-itsoffset', `${-audioLate}`] : []), '-f', 'lavfi', '-i', picture],
    ...[...(audioLate > 0 ? ['-itsoffset', `${audioLate}`] : []), '-f', 'lavfi', '-i', audio],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', `${period}`, '-pix_fmt', 'yuv420p'],
    ...['-c:a', audioCodec, '-b:a', '192k', whole],
  ])
  if (trim !== undefined) await ffmpeg(['-ss', `${trim}`, '-i', whole, '-map', '0', '-c', 'copy', path])
  return path
}

/**
 * Rising edges on the file's own timeline: the first sample or frame above the threshold after half a second below it.
 */
function edges(values: Iterable<[number, boolean]>): number[] {
  const found: number[] = []
  let last = -1
  for (const [second, on] of values) {
    if (on && second - last > 0.5) found.push(second)
    if (on) last = second
  }
  return found
}

async function firstSample(path: string): Promise<number> {
  const { ffprobe } = await testFfmpeg()
  const what = ['-select_streams', 'a:0', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0']
  const { stdout } = await run(ffprobe, ['-v', 'error', ...what, path], { env: sandboxEnvironment() })
  return Number.parseFloat(stdout)
}

/** Delay in seconds of each beep against the nearest flash, and the times of the flashes. */
export async function audioVideoOffsets(
  path: string,
): Promise<{ delays: number[]; pictures: number[]; firstSecond: number }> {
  const decode = ['-map', '0:v:0', ...'-fps_mode passthrough -vf scale=1:1 -pix_fmt gray -f rawvideo -'.split(' ')]
  const pixels = await ffmpeg(['-i', path, ...decode])
  const times = (await decodeFrames(path)).map((frame) => Number(frame.best_effort_timestamp_time))
  const pictures = edges(times.map((second, index) => [second, pixels[index]! > 128]))
  const raw = await ffmpeg(['-i', path, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 'f32le', '-'])
  const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength))
  const first = await firstSample(path)
  const beeps = edges(Array.from(samples, (value, index) => [first + index / 48_000, Math.abs(value) > 0.2]))
  const nearest = (beep: number) => pictures.reduce((a, b) => (Math.abs(b - beep) < Math.abs(a - beep) ? b : a))
  return { delays: beeps.map((beep) => beep - nearest(beep)), pictures, firstSecond: times[0] ?? Number.NaN }
}
