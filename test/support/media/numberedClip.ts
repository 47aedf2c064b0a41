// In charge of: clips in which every frame and every audio sample can be recognised after encoding, and reading them back.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { audioSamples } from './audioSamples.ts'
import { ffmpeg } from './media.ts'

const BITS = 12
const BLOCK = 16
const WIDTH = BITS * BLOCK
const HEIGHT = 48

/** The frame number as black and white blocks, lowest bit on the left; noise, in which no part is like another. */
export async function makeNumberedClip(
  path: string,
  { seconds, rate = '25', video = [], audio = ['-c:a', 'aac'] }: NumberedClipOptions,
): Promise<string> {
  const bars = `color=black:s=${WIDTH}x${HEIGHT}:r=${rate}:d=${seconds},format=gray,geq=lum='if(mod(floor(N/pow(2\\,floor(X/${BLOCK})))\\,2)\\,235\\,16)',format=yuv420p`
  await ffmpeg([
    ...['-y', '-f', 'lavfi', '-i', bars, '-f', 'lavfi', '-i', noise(seconds)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '120', ...video, ...audio, path],
  ])
  return path
}

export interface NumberedClipOptions {
  seconds: number
  rate?: string
  /** Arguments that replace the video and audio encoders' defaults. */
  video?: string[]
  audio?: string[]
}

/** The number of every frame in `path`, in presentation order. */
export async function frameNumbers(path: string): Promise<number[]> {
  const pixels = await ffmpeg([
    ...['-i', path, '-map', '0:v:0', '-fps_mode', 'passthrough'],
    ...['-vf', `scale=${WIDTH}:${HEIGHT}`, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'],
  ])
  const size = WIDTH * HEIGHT
  return Array.from({ length: pixels.length / size }, (_, frame) => {
    const row = frame * size + (HEIGHT / 2) * WIDTH
    return Array.from({ length: BITS }, (_bit, bit) =>
      pixels[row + bit * BLOCK + BLOCK / 2]! > 125 ? 2 ** bit : 0,
    ).reduce((sum, value) => sum + value, 0)
  })
}

export const noise = (seconds: number): string => `anoisesrc=seed=7:r=48000:d=${seconds}:a=0.4,lowpass=f=3000`

let original: Promise<Float32Array> | undefined
/** The audio of every numbered clip before it was encoded. */
const originalAudio = (): Promise<Float32Array> => (original ??= makeOriginalAudio())

async function makeOriginalAudio(): Promise<Float32Array> {
  const bytes = await ffmpeg(['-f', 'lavfi', '-i', noise(60), '-ac', '1', '-f', 'f32le', '-'])
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}

const WINDOW = 4800
const REACH = 2400
/** For many places: enough to tell noise from noise. */
const SHORT = { window: 1200, reach: 1200 }

/**
 * How many samples (at 48 kHz) the audio of `path` lies after its place, where sample 0 should be sample `origin` of
 * the clip's audio. Compared in the first second and in the last.
 */
export async function audioShifts(path: string, origin: number): Promise<[number, number]> {
  const [output, noiseSamples] = [await audioSamples(path), await originalAudio()]
  const at = (place: number): number => bestShift(output, noiseSamples, place, origin)
  return [at(WINDOW), at(output.length - 3 * WINDOW)]
}

/** The same at chosen places of the output: sample `place` should be sample `origin` of the clip's audio. */
export async function audioShiftsAt(
  path: string,
  places: readonly { place: number; origin: number }[],
): Promise<number[]> {
  const [output, noiseSamples] = [await audioSamples(path), await originalAudio()]
  return places.map(({ place, origin }) => bestShift(output, noiseSamples, place, origin - place, SHORT))
}

export async function sampleCount(path: string): Promise<number> {
  return (await audioSamples(path)).length
}

function bestShift(
  output: Float32Array,
  clip: Float32Array,
  place: number,
  origin: number,
  { window, reach } = { window: WINDOW, reach: REACH },
): number {
  let best = { shift: Number.NaN, score: 0 }
  for (let shift = -reach; shift <= reach; shift += 1) {
    let score = 0
    for (let index = 0; index < window; index += 1)
      score += (output[place + index + shift] ?? 0) * (clip[origin + place + index] ?? 0)
    if (score > best.score) best = { shift, score }
  }
  return best.shift
}
