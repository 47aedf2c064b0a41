// In charge of: generating a short video without ffmpeg: PNG frames and PCM audio in an AVI file, which every ffmpeg
// reads.
// Not in charge of: the jobs that use it (testJobs.ts).
import { deflateSync } from 'node:zlib'

export interface ClipOptions {
  width: number
  height: number
  framesPerSecond: number
  seconds: number
}

const SAMPLE_RATE = 48_000
const BLOCK_BYTES = 2
const TONE_HZ = 440
const BARS = [0xc0c0c0, 0xc0c000, 0x00c0c0, 0x00c000, 0xc000c0, 0xc00000, 0x0000c0]
/** Number of different frames. A longer clip repeats them. */
const DISTINCT_FRAMES = 25

const fourcc = (text: string): Buffer => Buffer.from(text, 'latin1')
const u32 = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value >>> 0, 4 * index)
  return buffer
}
const u16 = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) buffer.writeUInt16LE(value, 2 * index)
  return buffer
}

/** A RIFF chunk: name, length, content, and a padding byte if the length is odd. */
function chunk(name: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([fourcc(name), u32(body.length), body, Buffer.alloc(body.length % 2)])
}
const list = (name: string, ...parts: Buffer[]): Buffer => chunk('LIST', fourcc(name), ...parts)

// CRC-32 of ISO 3309, as PNG requires; zlib.crc32 does not exist in Node 20.0.
const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function pngChunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([fourcc(name), body])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(body.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** Colour bars with a moving white column. */
function pngFrame(width: number, height: number, at: number): Buffer {
  const row = Buffer.alloc(1 + 3 * width)
  const column = Math.floor(at * width)
  for (let x = 0; x < width; x++) {
    const isColumn = Math.abs(x - column) < width / 40
    const colour = isColumn ? 0xffffff : (BARS[Math.floor((x * BARS.length) / width)] ?? 0)
    row.writeUIntBE(colour, 1 + 3 * x, 3)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits, RGB.
  header.set([8, 2, 0, 0, 0], 8)
  const rows = Buffer.concat(Array.from({ length: height }, () => row))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows, { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A tone: one channel, 16 bits. */
function pcmAudio(from: number, count: number): Buffer {
  const samples = Buffer.alloc(count * BLOCK_BYTES)
  for (let index = 0; index < count; index++) {
    const value = Math.round(6000 * Math.sin((2 * Math.PI * TONE_HZ * (from + index)) / SAMPLE_RATE))
    samples.writeInt16LE(value, index * BLOCK_BYTES)
  }
  return samples
}

export function createTestClip({ width, height, framesPerSecond, seconds }: ClipOptions): Buffer {
  const frames = framesPerSecond * seconds
  const pictures = Array.from({ length: Math.min(frames, DISTINCT_FRAMES) }, (_, n) =>
    pngFrame(width, height, n / DISTINCT_FRAMES),
  )
  const perFrame = SAMPLE_RATE / framesPerSecond
  const media: Buffer[] = []
  const index: Buffer[] = []
  let offset = 4
  const add = (name: string, body: Buffer): void => {
    const made = chunk(name, body)
    media.push(made)
    // 0x10: a key frame.
    index.push(fourcc(name), u32(0x10, offset, body.length))
    offset += made.length
  }
  for (let frame = 0; frame < frames; frame++) {
    add('00dc', pictures[frame % pictures.length] ?? Buffer.alloc(0))
    const from = Math.round(frame * perFrame)
    add('01wb', pcmAudio(from, Math.round((frame + 1) * perFrame) - from))
  }
  const largest = Math.max(...pictures.map(({ length }) => length))
  const header = list(
    'hdrl',
    // 0x110: the file has an index and is interleaved.
    chunk('avih', u32(1e6 / framesPerSecond, 0, 0, 0x110, frames, 0, 2, largest, width, height, 0, 0, 0, 0)),
    list(
      'strl',
      chunk(
        'strh',
        fourcc('vidsMPNG'),
        u32(0, 0, 0, 1, framesPerSecond, 0, frames, largest, -1, 0),
        u16(0, 0, width, height),
      ),
      chunk('strf', u32(40, width, height), u16(1, 24), fourcc('MPNG'), u32(width * height * 3, 0, 0, 0, 0)),
    ),
    list(
      'strl',
      chunk(
        'strh',
        fourcc('auds'),
        u32(0, 0, 0, 0, BLOCK_BYTES, SAMPLE_RATE * BLOCK_BYTES, 0, seconds * SAMPLE_RATE, 0, -1, BLOCK_BYTES),
        u16(0, 0, 0, 0),
      ),
      chunk('strf', u16(1, 1), u32(SAMPLE_RATE, SAMPLE_RATE * BLOCK_BYTES), u16(BLOCK_BYTES, 16)),
    ),
  )
  return chunk('RIFF', fourcc('AVI '), header, list('movi', ...media), chunk('idx1', ...index))
}
