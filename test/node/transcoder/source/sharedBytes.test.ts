// In charge of: which bytes chunks keep of what passes by, and what the rest reads with them: never other bytes than those of
// the source, apart from pictures.
// Not in charge of: whole jobs (pipeline/sharedReading.long.test.ts).
import { expect, test } from 'vitest'
import { sharedPlaces } from '../../../../transcoder/analysis/sharedBytes.ts'
import { decodeLeftBytes, encodeLeftBytes } from '../../../../transcoder/division/leftBytes.ts'
import type { TrackPlaces } from '../../../../transcoder/formats/mp4/trackPlaces.ts'
import { CollectedBytes, type SourceRun } from '../../../../transcoder/source/collectedBytes.ts'
import type { ByteRange } from '../../../../transcoder/source/rangeResponse.ts'
import { SharedBytes } from '../../../../transcoder/source/sharedBytes.ts'

const MIB = 1024 * 1024
/** Behind what is probed: pictures of 60 KiB with 2 KiB of audio behind each, one pair a second. */
const BEGIN = 6 * MIB
const [PICTURE, SOUND] = [60 * 1024, 2 * 1024]
const PAIRS = 60
const END = BEGIN + PAIRS * (PICTURE + SOUND)
/** No byte is 0. */
const source = Uint8Array.from({ length: END }, (_, at) => 1 + (at % 251))

const samples = (skip: number, length: number) =>
  Array.from({ length: PAIRS }, (_, pair) => {
    const first = BEGIN + pair * (PICTURE + SOUND) + skip
    return { seconds: pair, first, end: first + length }
  })
const tracks: TrackPlaces[] = [
  { handler: 'vide', samples: samples(0, PICTURE), isKey: () => true },
  { handler: 'soun', samples: samples(PICTURE, SOUND), isKey: () => true },
]
const places = sharedPlaces(tracks, [0, 20, 40])!

/** What chunk `number` leaves that reads these bytes, in pieces of odd lengths. */
function leftOf(number: number, read: ByteRange = places.shares[number]!, most = MIB): SourceRun[] {
  const { first, last } = places.shares[number]!
  const within = places.others.filter((range) => range.first >= first && range.last <= last)
  const collected = new CollectedBytes(within, most)
  const take = collected.onReader(read.first)
  for (let at = read.first; at <= read.last; at += 7777) take(source.slice(at, Math.min(at + 7777, read.last + 1)))
  return decodeLeftBytes(Buffer.from(encodeLeftBytes(collected.runs())))!
}

/** Reads all shares; every byte must be that of the source, or 0 in a picture. */
async function readWith(left: (share: number) => SourceRun[] | null): Promise<ByteRange[]> {
  const fetched: ByteRange[] = []
  const shared = new SharedBytes({ ...places, left: async (share) => left(share) }, async (range) => {
    fetched.push(range)
    return source.slice(range.first, range.last + 1)
  })
  const isPicture = (at: number) => (at - BEGIN) % (PICTURE + SOUND) < PICTURE
  for (let at = BEGIN; at < END;) {
    const bytes = (await shared.read(at, END - at))!
    const wrong = bytes.findIndex(
      (byte, index) => byte !== source[at + index] && !(byte === 0 && isPicture(at + index)),
    )
    expect(wrong, `at ${at}`).toBe(-1)
    at += bytes.length
  }
  expect(await shared.read(END, 1)).toBeNull()
  expect(shared.nextFrom(0)).toBe(BEGIN)
  return fetched
}

const sizeOf = (ranges: readonly ByteRange[]) => ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)

test('shares touch each other, begin with the frames of their chunks, and have nothing but pictures and the rest', () => {
  expect(places.shares.map(({ first }) => first)).toEqual([0, 20, 40].map((pair) => BEGIN + pair * (PICTURE + SOUND)))
  expect(places.shares.at(-1)!.last).toBe(END - 1)
  expect(sizeOf(places.video) + sizeOf(places.others)).toBe(END - BEGIN)
  expect(sizeOf(places.others)).toBe(PAIRS * SOUND)
})

test('nothing is shared where chunks begin behind the video, or pictures lie in large pieces', () => {
  expect(sharedPlaces(tracks, [0, 20, 400])).toBeNull()
  const large = Array.from({ length: PAIRS }, (_, pair) => ({
    seconds: pair,
    first: BEGIN + pair * MIB,
    end: BEGIN + pair * MIB + MIB - SOUND,
  }))
  expect(sharedPlaces([{ ...tracks[0]!, samples: large }], [0, 20, 40])).toBeNull()
})

test('with what all chunks left, nothing is fetched', async () => {
  expect(await readWith((share) => leftOf(share))).toEqual([])
})

test('what a chunk did not leave is fetched once, and nothing of other shares', async () => {
  const { first, last } = places.shares[1]!
  const fetched = await readWith((share) => (share === 1 ? null : leftOf(share)))
  expect(fetched[0]!.first).toBeGreaterThanOrEqual(first)
  expect(fetched.at(-1)!.last).toBeLessThanOrEqual(last)
  expect(sizeOf(fetched)).toBeLessThanOrEqual(last - first + 1)
})

test('a chunk that read half of its share, and one that may keep little, leave that', async () => {
  const { first, last } = places.shares[2]!
  const half = first + 10 * (PICTURE + SOUND) - SOUND / 2
  const fetched = await readWith((share) => (share === 2 ? leftOf(2, { first, last: half }) : leftOf(share)))
  expect(sizeOf(fetched)).toBeLessThan(0.55 * (last - first))
  expect(fetched[0]!.first).toBeGreaterThan(half - PICTURE)
  const kept = leftOf(0, places.shares[0], 5 * SOUND)
  expect(kept.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(5 * SOUND)
  await readWith((share) => (share === 0 ? kept : leftOf(share)))
})

test('many ranges of a byte take no more memory than they may', () => {
  const ranges = Array.from({ length: 10_000 }, (_, at) => ({ first: 2 * at, last: 2 * at }))
  const collected = new CollectedBytes(ranges, 64 * 1024)
  collected.onReader(0)(new Uint8Array(20_000))
  expect(collected.runs().length).toBeGreaterThan(100)
  expect(collected.runs().length).toBeLessThan(300)
})

test('an object that is cut off, or that is none, is refused', () => {
  const object = Buffer.from(encodeLeftBytes(leftOf(0)))
  expect(decodeLeftBytes(object.subarray(0, -1))).toBeNull()
  expect(decodeLeftBytes(object.subarray(0, 3))).toBeNull()
  expect(decodeLeftBytes(Buffer.alloc(40, 255))).toBeNull()
})
