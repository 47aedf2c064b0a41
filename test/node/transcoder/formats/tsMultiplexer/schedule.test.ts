// Tables and PCRs of a multiplex are frequent enough, whatever the access units are: small, large, rare, or absent for
// a while.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { expect, test } from 'vitest'
import { Multiplexer } from '../../../../../transcoder/formats/tsMultiplexer/multiplexer.ts'
import type { MultiplexOptions } from '../../../../../transcoder/formats/tsMultiplexer/multiplexOptions.ts'
import { checkTstd } from '../../../../support/mpegts/tstdModel.ts'
import { audio, encoded, video, type Frame, type Stream } from '../../../../support/mpegts/encodedStream.ts'

const SECONDS = 6
const track = { codec: 'aac', channels: 2, bitrateKbps: 128 } as const

const options = (streams: readonly Stream[], change: Partial<MultiplexOptions> = {}): MultiplexOptions => ({
  rateKbps: null,
  video: { codec: 'h264', maxKbps: 1000, bufferBits: 700_000, framesPerSecond: 25, hasHrd: false },
  audio: streams.filter(({ type }) => type === 0x0f).map(() => track),
  profile: null,
  service: { stream: 1, id: 1, name: 'clip', provider: 'tests', type: 1 },
  ...{ mapPid: 0x1000, videoPid: 0x100, audioPid: 0x101, cues: null },
  ...change,
})

function multiplexed(streams: readonly Stream[], change: Partial<MultiplexOptions> = {}): Buffer {
  const multiplexer = new Multiplexer(options(streams, change))
  return Buffer.concat([...multiplexer.push(encoded(streams)), ...multiplexer.end()])
}

/** 25 frames per second of `small` bytes, except those in `large`. */
const frames = (small: number, large: Record<number, number> = {}): Frame[] =>
  Array.from({ length: SECONDS * 25 }, (_, at) => ({ seconds: at / 25, bytes: large[at] ?? small }))
const whole = audio(370, [[0, SECONDS]])
const tracks = Array.from({ length: 8 }, () => ({ ...whole, descriptors: [0x0a, 4, 0x64, 0x65, 0x75, 0] }))

test.each<[string, Stream[], Partial<MultiplexOptions>?]>([
  ['a still scene', [video(frames(64)), whole]],
  ['a still scene without audio', [video(frames(64))]],
  ['a large frame in a still scene', [video(frames(64, { 75: 80_000 })), whole]],
  ['a large frame first', [video(frames(64, { 0: 80_000 })), whole]],
  ['a large frame last', [video(frames(64, { 149: 60_000 }))]],
  ['a gap in the audio', [video(frames(64)), audio(370, [[0, 2], [4, SECONDS]])]], // prettier-ignore
  ['audio that begins late', [video(frames(64)), audio(370, [[3, SECONDS]])]],
  [
    'a frame that lasts three seconds',
    [video(frames(1000).filter(({ seconds }) => seconds < 1 || seconds >= 4)), whole],
  ],
  ['a frame a second and no audio', [video(frames(1000).filter((_, at) => at % 25 === 0))]],
  ['eight tracks', [video(frames(200)), ...tracks]],
  ['eight tracks in atsc', [video(frames(200)), ...tracks], { profile: 'atsc' }],
  ['the lowest constant rate', [video(frames(300))], { rateKbps: 170 }],
  ['a constant rate with eight tracks', [video(frames(300)), ...tracks], { rateKbps: 1400 }],
  ['a high constant rate', [video(frames(2000)), whole], { rateKbps: 20_000 }],
])('%s: PAT and PMT are at most 100 ms apart, the clock 40 ms, and no buffer overflows', (_name, streams, change) => {
  const bytes = multiplexed(streams, change)
  const judged = checkTstd(bytes, change?.profile ?? null)
  expect(judged.problems).toEqual([])
  // From the first packet to the last one.
  expect(judged.patMs).toBeLessThan(100)
  expect(judged.pmtMs).toBeLessThan(100)
  expect(judged.clockMs).toBeLessThanOrEqual(40)
  expect(bytes.readUInt16BE(1) & 0x1fff).toBe(0)
})
