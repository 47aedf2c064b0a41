// A flash and a beep in each second, decoded: sound and picture stay within 10 ms of the source, from the first to the last.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ffmpeg, frames, packets, probeFile, workspace } from '../media.ts'
import { job, rendition, track } from '../plan/jobs.ts'
import { encode } from './encode.ts'

const SECONDS = process.env['LONG'] === '1' ? 60 : 20
let space: Awaited<ReturnType<typeof workspace>>

beforeAll(async () => {
  space = await workspace()
})
afterAll(() => space[Symbol.asyncDispose]())

/** White for two pictures, and a tone of 80 ms, 0.2 s into each second. `audioLate`: seconds by which all sound comes later. */
async function flashes(container: 'mp4' | 'ts', audioLate: number): Promise<string> {
  const path = space.file(`flash_${audioLate}.${container}`)
  const picture = `color=black:s=64x64:r=25:d=${SECONDS},drawbox=c=white:t=fill:enable='between(mod(n,25),5,6)'`
  const sound = `aevalsrc=exprs='0.7*sin(2*PI*1000*t)*between(mod(t,1),0.2,0.28)':s=48000:d=${SECONDS}`
  await ffmpeg([
    ...[...(audioLate < 0 ? ['-itsoffset', `${-audioLate}`] : []), '-f', 'lavfi', '-i', picture],
    ...[...(audioLate > 0 ? ['-itsoffset', `${audioLate}`] : []), '-f', 'lavfi', '-i', sound],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'mp2', '-b:a', '192k', path],
  ])
  return path
}

/** Rising edges on the file's own clock: the first sample or picture above the threshold after half a second below it. */
function edges(values: Iterable<[number, boolean]>): number[] {
  const found: number[] = []
  let last = -1
  for (const [second, on] of values) {
    if (on && second - last > 0.5) found.push(second)
    if (on) last = second
  }
  return found
}

async function measure(path: string): Promise<number[]> {
  const pixels = await ffmpeg([
    '-i',
    path,
    '-map',
    '0:v:0',
    ...'-fps_mode passthrough -vf scale=1:1 -pix_fmt gray -f rawvideo -'.split(' '),
  ])
  const times = (await frames(path)).map((frame) => Number(frame.best_effort_timestamp_time))
  const pictures = edges(times.map((second, index) => [second, pixels[index]! > 128]))
  const raw = await ffmpeg(['-i', path, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 'f32le', '-'])
  const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength))
  // The first decoded sample: an mp4 may begin with priming that its edit list takes off.
  const { streams } = await probeFile(path)
  const sound = streams.find((stream) => stream.codec_type === 'audio')!
  const first = Math.max(Number(sound.start_time), Number((await packets(path, 'a:0'))[0]!.pts_time))
  const beeps = edges(Array.from(samples, (value, index) => [first + index / 48_000, Math.abs(value) > 0.2]))
  expect(pictures.length).toBeGreaterThanOrEqual(SECONDS - 1)
  // By how much each beep comes after the flash that is nearest to it.
  return beeps.map((beep) => beep - pictures.reduce((a, b) => (Math.abs(b - beep) < Math.abs(a - beep) ? b : a)))
}

describe.each([
  ['mp4', 'aac'],
  ['ts', 'mp2'],
] as const)('%s with %s', (container, codec) => {
  test.each([0, 0.2, -0.2, 1.1, -1.09])('sound that begins %s s after the picture', async (late) => {
    const clip = await flashes('ts', late)
    const spec = job({
      container,
      video: [rendition({ width: 64, height: 64, bitrateKbps: 200 })],
      audio: [track({ codec, bitrateKbps: 192 })],
    })
    const { outputs } = await encode(spec, clip, space.path)
    const before = await measure(clip)
    const after = await measure(outputs[0])
    expect(Math.abs(after.length - before.length)).toBeLessThanOrEqual(1)
    const common = Math.min(before.length, after.length)
    for (const [index, delay] of after.slice(-common).entries())
      expect(Math.abs(delay - before.slice(-common)[index]!)).toBeLessThan(0.01)
  })
})
