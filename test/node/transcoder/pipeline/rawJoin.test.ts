// In charge of: how raw frames and samples of pieces are put together: lengths, fades, silence, and an encoder that waits
// for audio.
// Not in charge of: decoding pieces (joins.test.ts).
import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { RawJoin, type RawPiece } from '../../../../transcoder/pipeline/join/rawJoin.ts'

/** Four bytes per frame, at 29.97 per second: 1601.6 samples each. */
const FORMAT = { video: { rate: { num: 30_000, den: 1001 }, frameBytes: 4 }, audio: [2] }
const NEVER = new AbortController().signal

class Sink extends Writable {
  readonly chunks: Buffer[] = []
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk)
    setImmediate(done)
  }
  get bytes(): Buffer {
    return Buffer.concat(this.chunks)
  }
}

const frames = (count: number, value: number): Buffer => Buffer.alloc(count * 4, value)
/** Stereo at full scale. */
function samples(count: number): Buffer {
  const bytes = Buffer.alloc(count * 8)
  for (let at = 0; at < bytes.length; at += 4) bytes.writeFloatLE(1, at)
  return bytes
}
function left(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readFloatLE(index * 8))
}
const inParts = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)),
  )

interface Given {
  frames: number
  samples: number | null
  length?: number
  isFixed?: boolean
}

async function joined(pieces: readonly Given[], pad = 2): Promise<{ video: Buffer; audio: number[]; used: number[] }> {
  const [video, audio] = [new Sink(), new Sink()]
  const raw = new RawJoin(FORMAT, [video, audio], NEVER)
  const used: number[] = []
  for (const [index, given] of pieces.entries()) {
    const piece: RawPiece = {
      length: given.length ?? null,
      isFixed: given.isFixed ?? false,
      hasAudio: [given.samples !== null],
      isFirst: index === 0,
      isLast: index === pieces.length - 1,
    }
    raw.begin(piece)
    await Promise.all([
      raw.readVideo(inParts(frames(given.frames, index + 1), 7)),
      given.samples === null ? undefined : raw.readAudio(inParts(samples(given.samples), 1001), 0),
    ])
    used.push((await raw.finish(pad)).used)
  }
  await raw.end()
  return { video: video.bytes, audio: left(audio.bytes), used }
}

test('audio is cut or continued with silence at the end of the video, without rounding that adds up', async () => {
  const pieces = Array.from({ length: 25 }, (_, index) => ({ frames: 3, samples: index % 2 === 0 ? 4000 : 9000 }))
  const { video, audio } = await joined(pieces)
  expect(video.length).toBe(75 * 4)
  // 75 × 1601.6; 25 times a rounded length would be 120,125.
  expect(audio.length).toBe(120_120)
  // The end of each piece lies on the grid of the whole.
  for (const index of [0, 2, 4]) {
    const end = Math.round(3 * (index + 1) * 1601.6)
    expect(audio.slice(end - 500, end).every((value) => value === 0)).toBe(true)
  }
})

test('fades of 240 samples at joins, none at the beginning and the end', async () => {
  const { audio } = await joined([
    { frames: 30, samples: 50_000 },
    { frames: 30, samples: 50_000 },
  ])
  const join = 48_048
  expect([audio[0], audio.at(-1)]).toEqual([1, 1])
  expect([audio[join - 241], audio[join + 240]]).toEqual([1, 1])
  expect(audio[join - 240]).toBeCloseTo(239.5 / 240, 5)
  expect(audio[join - 1]).toBeCloseTo(0.5 / 240, 5)
  expect(audio[join]).toBeCloseTo(0.5 / 240, 5)
  const steps = audio.map((value, index) => Math.abs(value - (audio[index - 1] ?? value)))
  expect(Math.max(...steps.slice(join - 300, join + 300))).toBeLessThan(1 / 200)
})

test('a piece without audio is silent', async () => {
  const { audio } = await joined([
    { frames: 10, samples: 20_000 },
    { frames: 10, samples: null },
    { frames: 10, samples: 20_000 },
  ])
  expect(audio.length).toBe(48_048)
  expect(audio.slice(16_016, 32_032).every((value) => value === 0)).toBe(true)
})

test('missing frames are made up for by the last one, within limits; too many are dropped', async () => {
  const { video, used } = await joined([
    { frames: 9, samples: 20_000, length: 10 },
    { frames: 14, samples: 20_000, length: 10, isFixed: true },
    { frames: 5, samples: 20_000, length: 10 },
  ])
  expect(used).toEqual([10, 10, 5])
  expect([...video.subarray(36, 44)]).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
  expect(video.length).toBe(25 * 4)
})

test('an encoder that waits for audio gets video and silence where the audio of a piece begins too late', async () => {
  const big = { video: { rate: { num: 25, den: 1 }, frameBytes: 4 * 1024 * 1024 }, audio: [2] }
  const video = new PassThrough({ highWaterMark: 1 })
  const audio = new Sink()
  const raw = new RawJoin(big, [video, audio], NEVER)
  raw.begin({ length: null, isFixed: false, hasAudio: [true], isFirst: true, isLast: true })
  // Video is not read before there are 0.2 s of audio: 90 frames are more than may wait.
  const waited = (async () => {
    while (audio.bytes.length < 9600 * 8) await once(audio, 'wrote')
    for await (const chunk of video) void chunk
  })()
  const write = audio._write.bind(audio)
  audio._write = (chunk, encoding, done) => write(chunk, encoding, () => (done(), void audio.emit('wrote')))
  const late = new PassThrough()
  const reading = raw.readAudio(late, 0)
  const block = Buffer.alloc(big.video.frameBytes, 9)
  await raw.readVideo(
    Readable.from(
      (function* () {
        for (let at = 0; at < 90; at += 1) yield block
      })(),
    ),
  )
  const wanted = Float32Array.from({ length: 90 * 1920 }, (_, index) => (index + 1) / (90 * 1920))
  const stereo = Float32Array.from({ length: 2 * wanted.length }, (_, index) => wanted[index >> 1]!)
  late.end(Buffer.from(stereo.buffer))
  await reading
  await raw.finish(0)
  await raw.end()
  await waited
  const heard = left(audio.bytes)
  expect(heard.length).toBe(90 * 1920)
  const begin = heard.findIndex((value) => value > 0)
  expect(begin).toBeGreaterThan(9600)
  // What was replaced by silence is not heard later.
  expect(heard.findIndex((value, index) => index >= begin && value !== wanted[index])).toBe(-1)
})

test.each([
  ['of a piece', true],
  ['of silence', false],
])(
  'an encoder that reads a frame, then a whole packet of audio %s, goes on at any frame rate',
  async (_name, hasAudio) => {
    const frameBytes = 256 * 1024
    const format = { video: { rate: { num: 50, den: 1 }, frameBytes }, audio: [2] }
    const video = new PassThrough({ highWaterMark: 1 })
    const audio = new PassThrough({ highWaterMark: 1 })
    const raw = new RawJoin(format, [video, audio], NEVER)
    raw.begin({ length: null, isFixed: false, hasAudio: [hasAudio], isFirst: true, isLast: true })
    const read = async (stream: Readable, count: number): Promise<void> => {
      for (let rest = count; rest > 0;) {
        const chunk = stream.read() as Buffer | null
        if (chunk === null) await once(stream, 'readable')
        else rest -= chunk.length
      }
    }
    const encoder = (async () => {
      await read(video, frameBytes)
      await read(audio, 4096 * 8)
      video.resume()
      audio.resume()
    })()
    await Promise.all([
      raw.readVideo(inParts(Buffer.alloc(20 * frameBytes), 64 * 1024)),
      hasAudio ? raw.readAudio(inParts(samples(20 * 960), 4096), 0) : undefined,
      encoder,
    ])
    expect((await raw.finish(0)).used).toBe(20)
    await raw.end()
  },
)
