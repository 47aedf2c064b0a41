// What people bring, composed at random: pieces of two or three forms that follow each other in one stream, or are joined
// by the request. They are judged as the rows of the table are.
import { mkdir } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { useAttemptFixture } from '../../support/transcoder/useAttempts.ts'
import { changedMidway, codecsMidway, joinedFiles } from './composed.ts'
import { compare } from './judge.ts'
import { answer, REQUESTS } from './requests.ts'
import type { Seen } from './watch.ts'
import { Workshop } from './workshop.ts'

const fixture = await useAttemptFixture()
let made = 0

/** A run costs one job. COMPOSED_RUNS and COMPOSED_SEED try others. */
const RUNS = { numRuns: Number(process.env['COMPOSED_RUNS'] ?? 4), seed: Number(process.env['COMPOSED_SEED'] ?? 31) }

const AC3 = { flags: ['-c:a', 'ac3', '-b:a', '256k'], extension: 'ac3' }

/** Even, and no narrower than 16:9 upright: the card has to be read in the bars of another piece. */
const size = fc
  .tuple(fc.integer({ min: 80, max: 320 }), fc.integer({ min: 80, max: 320 }))
  .filter(([width, height]) => Math.max(width, height) * 9 <= Math.min(width, height) * 16)
const piece = fc.record({
  size,
  channels: fc.constantFrom(1, 2, 6),
  soundRate: fc.constantFrom(48_000, 44_100),
  container: fc.constantFrom('mp4', 'mkv', 'ts', 'mov'),
  rate: fc.constantFrom(25, 30, 50),
  video: fc.constantFrom('h264', 'mpeg2', 'hevc'),
  sound: fc.constantFrom('aac', 'mp2', 'ac3'),
})
const pieces = fc.array(
  piece.map(({ size: [width, height], ...rest }) => ({ width: 2 * width, height: 2 * height, seconds: 2.4, ...rest })),
  { minLength: 2, maxLength: 3 },
)

const newShop = async (): Promise<Workshop> => {
  const directory = `${fixture.directory}/${(made += 1)}`
  await mkdir(directory)
  return new Workshop(directory)
}

type Piece = typeof pieces extends fc.Arbitrary<(infer Each)[]> ? Each : never

const WAYS: Record<string, (shop: Workshop, each: readonly Piece[]) => Promise<{ paths: string[]; seen: Seen }>> = {
  'changed midway': async (shop, each) => {
    const forms = each.map(({ width, height, seconds, channels, soundRate }) => ({
      width,
      height,
      seconds,
      channels,
      soundRate,
    }))
    const { path, seen } = await changedMidway(shop, 'midway', forms, AC3)
    return { paths: [path], seen }
  },
  'codecs changed midway': codecsMidway,
  'joined by the request': joinedFiles,
}

test.each(Object.entries(WAYS))('%s', async (_way, make) => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...REQUESTS), async (each, request) => {
      const { paths, seen } = await make(await newShop(), each)
      const { error, seen: shown } = await answer(fixture, paths, request)
      expect(error === null ? compare(seen, shown!) : [`${error.code}: ${error.message}`]).toEqual([])
    }),
    { ...RUNS, endOnFailure: true },
  )
})
