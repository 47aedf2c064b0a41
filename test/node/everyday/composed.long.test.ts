// What people bring, composed at random: pieces of two or three forms that follow each other in one stream, or are joined
// by the request. They are judged as the rows of the table are.
import { mkdir } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { useAttemptFixture } from '../../support/transcoder/useAttempts.ts'
import { changedMidway, joinedFiles } from './composed.ts'
import { compare } from './judge.ts'
import { answer, REQUESTS, type RequestName } from './requests.ts'
import type { Seen } from './watch.ts'
import { Workshop } from './workshop.ts'

const fixture = await useAttemptFixture()
let made = 0

/** A run costs one job. COMPOSED_RUNS and COMPOSED_SEED try others. */
const RUNS = { numRuns: Number(process.env['COMPOSED_RUNS'] ?? 4), seed: Number(process.env['COMPOSED_SEED'] ?? 31) }

const AC3 = { flags: ['-c:a', 'ac3', '-b:a', '256k'], extension: 'ac3' }

const piece = fc.record({
  size: fc.constantFrom([320, 180], [180, 320], [240, 180], [640, 360], [352, 198]),
  channels: fc.constantFrom(1, 2, 6),
  soundRate: fc.constantFrom(48_000, 44_100),
  container: fc.constantFrom('mp4', 'mkv', 'ts', 'mov'),
  rate: fc.constantFrom(25, 30, 50),
})
const pieces = fc.array(
  piece.map(({ size: [width = 0, height = 0], ...rest }) => ({ width, height, seconds: 2.4, ...rest })),
  { minLength: 2, maxLength: 3 },
)

/** Findings that may still fail a test, as in a row. */
const KNOWN: Record<'midway' | 'joined', string | null> = {
  midway: 'web 2, broadcast 1, contract 2',
  joined: 'not yet verified',
}

async function expectSame(
  way: keyof typeof KNOWN,
  paths: readonly string[],
  seen: Seen,
  request: RequestName,
): Promise<void> {
  const { error, seen: shown } = await answer(fixture, paths, request)
  const faults = error === null ? compare(seen, shown!) : [`${error.code}: ${error.message}`]
  if (KNOWN[way] === null) expect(faults).toEqual([])
  else console.info(`${way}, ${request}, ${KNOWN[way]}: ${faults.join('; ') || 'mended'}`)
}

const newShop = async (): Promise<Workshop> => {
  const directory = `${fixture.directory}/${(made += 1)}`
  await mkdir(directory)
  return new Workshop(directory)
}

test('changed midway', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...REQUESTS), async (each, request) => {
      const forms = each.map(({ container: _container, rate: _rate, ...form }) => form)
      const { path, seen } = await changedMidway(await newShop(), 'midway', forms, AC3)
      await expectSame('midway', [path], seen, request)
    }),
    { ...RUNS, endOnFailure: true },
  )
})

test('joined by the request', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...REQUESTS), async (each, request) => {
      const { paths, seen } = await joinedFiles(await newShop(), each)
      await expectSame('joined', paths, seen, request)
    }),
    { ...RUNS, endOnFailure: true },
  )
})
