// In charge of: the samples of an output, decoded, and how loud they are.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { ffmpeg } from '../media.ts'

/** One channel of a file's audio stream, decoded to 32-bit float at 48 kHz. Samples beyond full scale are kept. */
export async function samples(path: string, position = 0, channel = 0): Promise<Float32Array> {
  const bytes = await ffmpeg([
    ...['-drc_scale', '0', '-i', path, '-map', `0:a:${position}`],
    ...['-af', `aresample=48000,pan=mono|c0=c${channel}`, '-f', 'f32le', '-'],
  ]).catch(() =>
    ffmpeg([
      ...['-i', path, '-map', `0:a:${position}`],
      ...['-af', `aresample=48000,pan=mono|c0=c${channel}`, '-f', 'f32le', '-'],
    ]),
  )
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}

/** The middle of a sound, away from what encoders do at its ends. */
function middle(sound: Float32Array): Float32Array {
  return sound.subarray(Math.floor(sound.length / 4), Math.floor((sound.length * 3) / 4))
}

/** Mean level of the middle in dB below full scale; −Infinity for silence. */
export function levelDb(sound: Float32Array): number {
  const part = middle(sound)
  return 10 * Math.log10(part.reduce((sum, value) => sum + value * value, 0) / part.length)
}

/** The largest sample of the middle, linear. */
export function peak(sound: Float32Array): number {
  return middle(sound).reduce((most, value) => Math.max(most, Math.abs(value)), 0)
}
