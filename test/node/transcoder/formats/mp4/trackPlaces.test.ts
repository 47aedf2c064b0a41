// In charge of: the places that a reader is told of the tracks of an mp4 or QuickTime file: few of PCM, whatever its length,
// none that a hostile index invents.
// Not in charge of: what readers do with them (analysis/skippedBytes.test.ts).
import { expect, test } from 'vitest'
import { readTracks } from '../../../../../transcoder/division/expectedBytes.ts'
import { readTrackPlaces, type TrackPlaces } from '../../../../../transcoder/formats/mp4/trackPlaces.ts'
import { ffmpeg, lavfi, readPackets } from '../../../../support/media/media.ts'
import { localSource } from '../../../../support/media/transportPlaces.ts'
import { mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()
const MOV = mediaInfo({}, { formats: ['mov'] })
const RATE = 48_000

const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4)
  return bytes
}

function box(name: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([words(body.length + 8), Buffer.from(name), body])
}

interface Track {
  handler?: string
  /** Bytes of each sample. */
  size: number
  samples: number
  chunks: { samples: number; places: readonly number[] }
}

function trak({ handler = 'soun', size, samples, chunks }: Track): Buffer {
  const places = Buffer.alloc(8 * chunks.places.length)
  for (const [at, place] of chunks.places.entries()) places.writeBigUInt64BE(BigInt(place), at * 8)
  const table = box(
    'stbl',
    box('stts', words(0, 1, samples, 1)),
    box('stsc', words(0, 1, 1, chunks.samples, 1)),
    box('stsz', words(0, size, samples)),
    box('co64', words(0, chunks.places.length), places),
  )
  const hdlr = box('hdlr', words(0, 0), Buffer.from(handler), Buffer.alloc(12))
  return box('trak', box('mdia', box('mdhd', words(0, 0, 0, RATE, samples, 0)), hdlr, box('minf', table)))
}

const moov = (...tracks: Track[]): Buffer =>
  Buffer.concat([box('mvhd', words(0, 0, 0, 1000), Buffer.alloc(84)), ...tracks.map(trak)])

/** Chunks of half a second, one track behind the other. */
function pcm(hours: number, track: number, tracks: number): Track {
  const count = hours * 7200
  const bytes = (RATE / 2) * 3
  const places = Array.from({ length: count }, (_, chunk) => (chunk * tracks + track) * bytes)
  return { size: 3, samples: (count * RATE) / 2, chunks: { samples: RATE / 2, places } }
}

const MOST = 1_000_000

test('two hours of 16 tracks of PCM have a place for each chunk', () => {
  const tracks = readTrackPlaces(moov(...Array.from({ length: 16 }, (_, track) => pcm(2, track, 16))), MOST)!
  expect(tracks.map(({ samples }) => samples.length)).toEqual(Array.from({ length: 16 }, () => 14_400))
  const [first, second] = tracks[1]!.samples
  expect(first).toEqual({ seconds: 0, first: 72_000, end: 144_000 })
  expect(second).toEqual({ seconds: 0.5, first: 17 * 72_000, end: 18 * 72_000 })
  expect(tracks[15]!.samples.at(-1)!.end).toBe(14_400 * 16 * 72_000)
})

test('a chunk of many seconds has a place for each second', () => {
  const one = { size: 4, samples: 2.5 * RATE, chunks: { samples: 2.5 * RATE, places: [100] } }
  const [track] = readTrackPlaces(moov(one), MOST)!
  expect(track!.samples.map(({ seconds, first, end }) => [seconds, first, end])).toEqual([
    [0, 100, 192_100],
    [1, 192_100, 384_100],
    [2, 384_100, 480_100],
  ])
})

test('the places of all tracks are limited together, and samples without a chunk are refused', () => {
  const video = { handler: 'vide', size: 1, samples: 600, chunks: { samples: 600, places: [0] } }
  expect(readTrackPlaces(moov(video), 600)).toHaveLength(1)
  expect(readTrackPlaces(moov(video, video), 1199)).toBeNull()
  expect(readTrackPlaces(moov(video, pcm(1, 0, 1)), 7799)).toBeNull()
  expect(readTrackPlaces(moov({ ...pcm(1, 0, 1), samples: 2 ** 32 - 1 }), MOST)).toBeNull()
})

test('a file that says more than it has tells readers nothing', async () => {
  const read = async (place: number) => {
    const one = { handler: 'vide', size: 100, samples: 2, chunks: { samples: 1, places: [0, place] } }
    const file = Buffer.concat([box('moov', moov(one)), Buffer.alloc(8 * 1024)])
    const source = {
      open: async () => ({ size: file.length, ranges: true, head: new Uint8Array() }),
      readRange: async (first: number, count: number) => file.subarray(first, first + count),
    }
    return readTracks(source, MOV, new AbortController().signal)
  }
  expect(await read(1000)).toHaveLength(1)
  expect(await read(2 ** 50)).toBeNull()
})

test('the places of a file of ffmpeg hold its packets', async () => {
  const file = directory.file('pcm.mov')
  const sources = lavfi(
    'testsrc2=s=320x180:r=50:d=3,noise=alls=60:allf=t',
    ...[1, 2].map((seed) => `anoisesrc=seed=${seed}:r=48000:d=3`),
  )
  const maps = '-map 0:v -map 1:a -map 2:a -c:v mjpeg -q:v 2 -pix_fmt yuvj420p -c:a pcm_s16le'.split(' ')
  await ffmpeg([...sources, ...maps, file])
  const tracks = (await readTracks(localSource(file), MOV, new AbortController().signal))!
  const sound = tracks.filter(({ handler }) => handler === 'soun')
  expect(sound).toHaveLength(2)
  for (const [at, { samples }] of sound.entries()) {
    const packets = await readPackets(file, String(at + 1))
    expect(samples.length).toBeLessThanOrEqual(packets.length)
    expect(bytesOf(samples)).toBe(3 * RATE * 2)
    expect(packets.filter(({ pos }) => !holds(samples, Number(pos)))).toEqual([])
  }
})

function bytesOf(samples: TrackPlaces['samples']): number {
  return samples.reduce((sum, { first, end }) => sum + end - first, 0)
}

function holds(samples: TrackPlaces['samples'], place: number): boolean {
  return samples.some(({ first, end }) => first <= place && place < end)
}
