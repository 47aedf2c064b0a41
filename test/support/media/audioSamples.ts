// In charge of: the decoded audio samples of an output, and their level.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { readAc3Header } from '../../../transcoder/formats/ac3.ts'
import { parseEbur128 } from '../../../transcoder/analysis/loudness/ebur128.ts'
import { testFfmpeg, ffmpeg, probeStream, readOnce } from './media.ts'

/** One channel of a file's audio stream, decoded to 32-bit float at 48 kHz. Samples beyond full scale are kept. */
export async function audioSamples(path: string, position = 0, channel = 0): Promise<Float32Array> {
  const { channels, codec_name: codec } = await probeStream(path, 'audio', position)
  const dolby = codec === 'ac3' || codec === 'eac3' ? ['-drc_scale', '0'] : []
  const output = ['-map', `0:a:${position}`, '-ar', '48000', '-f', 'f32le', '-']
  const bytes = await readOnce(path, [...dolby, ...output], () => ffmpeg([...dolby, '-i', path, ...output]))
  const length = Math.floor(bytes.length / 4 / channels)
  return Float32Array.from({ length }, (_, at) => bytes.readFloatLE(4 * (at * channels + channel)))
}

/**
 * Every channel of every audio stream of a file, decoded by one process; `channels` = the number of channels of each
 * stream, in order.
 */
export async function audioSamplesByChannel(path: string, channels: readonly number[]): Promise<Float32Array[][]> {
  const raw = (position: number) => `${path}.${position}.f32`
  await ffmpeg([
    ...['-i', path],
    ...channels.flatMap((_count, position) => [
      '-map',
      `0:a:${position}`,
      '-ar',
      '48000',
      '-f',
      'f32le',
      raw(position),
    ]),
  ])
  return Promise.all(
    channels.map(async (count, position) => {
      const bytes = await readFile(raw(position))
      const mixed = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
      return Array.from({ length: count }, (_, channel) =>
        Float32Array.from({ length: mixed.length / count }, (_sample, at) => mixed[at * count + channel]!),
      )
    }),
  )
}

/** The middle of a signal, without the parts at both ends that encoders alter. */
function middle(samples: Float32Array): Float32Array {
  return samples.subarray(Math.floor(samples.length / 4), Math.floor((samples.length * 3) / 4))
}

/** Mean level of the middle in dB below full scale; −Infinity for silence. */
export function levelDb(samples: Float32Array): number {
  const part = middle(samples)
  return 10 * Math.log10(part.reduce((sum, value) => sum + value * value, 0) / part.length)
}

/** The largest sample of the middle, linear. */
export function peakLevel(samples: Float32Array): number {
  return middle(samples).reduce((most, value) => Math.max(most, Math.abs(value)), 0)
}

/** The dialogue level that the first AC-3 frame of a file's audio stream declares. */
export async function streamDialnorm(path: string, position = 0): Promise<number | null> {
  const args = ['-i', path, '-map', `0:a:${position}`, '-c', 'copy', '-frames:a', '1', '-f', 'data', '-']
  return readAc3Header(await ffmpeg(args))?.dialnorm ?? null
}

/** Frequency in Hz of a single tone, from its rising zero crossings; 0 for silence. */
export function dominantFrequency(samples: Float32Array): number {
  const part = middle(samples)
  let rises = 0
  for (let at = 1; at < part.length; at += 1) if (part[at - 1]! < 0 && part[at]! >= 0) rises += 1
  return peakLevel(samples) < 1e-3 ? 0 : (rises * 48_000) / part.length
}

/** Level of one frequency in the middle, in dB relative to a full-scale sine of that frequency. */
export function toneLevelDb(samples: Float32Array, hertz: number): number {
  const part = middle(samples)
  let [real, imaginary] = [0, 0]
  for (const [at, value] of part.entries()) {
    const angle = (2 * Math.PI * hertz * at) / 48_000
    real += value * Math.cos(angle)
    imaginary += value * Math.sin(angle)
  }
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / part.length)
}

interface Loudness {
  integratedLufs: number | null
  truePeakDb: number | null
}

/** Loudness of an output's decoded audio stream. One process each: ffmpeg 7 mixes the summaries of several streams. */
export async function measureLoudness(path: string, position = 0): Promise<Loudness> {
  const words = [
    ...['-nostdin', '-hide_banner', '-nostats', '-i', path, '-map', `0:a:${position}`],
    ...['-af', 'ebur128@m=framelog=verbose:peak=true', '-f', 'null', '-'],
  ]
  const log = await readOnce(path, words, async () => {
    const { ffmpeg: program } = await testFfmpeg()
    return (await promisify(execFile)(program, words)).stderr
  })
  return parseEbur128(log, 'm')!
}
