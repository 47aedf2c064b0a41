// The byte pairs of joined pieces: what is sent at a join, and which pairs of damaged pieces are sent again.
import { expect, test } from 'vitest'
import { JoinedPairs } from '../../../../../transcoder/formats/cea/joinedPairs.ts'
import { characterPairs, ccDataTriplet } from '../../../../support/captions/cea608Bytes.ts'

const FRAME = 1001 / 30_000
const [RCL, EDM, ENM, EOC, PAD] = [
  [0x14, 0x20],
  [0x14, 0x2c],
  [0x14, 0x2e],
  [0x14, 0x2f],
  [0, 0],
] as const

/** One pair a frame, then a join. Pairs in hexadecimal digits, in their order. */
function joined(...pieces: (readonly number[])[][]): string[] {
  const joins = new JoinedPairs()
  let at = 0
  for (const triplets of pieces) {
    joins.beginPiece(at * FRAME)
    for (const [frame, triplet] of triplets.entries()) joins.push(frame * FRAME, Uint8Array.from(triplet))
    at += triplets.length
    joins.endPiece(at * FRAME)
  }
  // The next piece has no captions, and clears what is left.
  joins.beginPiece(at * FRAME)
  return [...joins.fields[0]].map(({ pair }) => pair.toString(16))
}

const sent = (pairs: readonly (readonly [number, number])[]) => pairs.map(([a, b]) => ccDataTriplet(0, a, b))

test('a caption that was shown once is cleared, and nothing else: a code and its repetition count once', () => {
  const pairs = sent([RCL, RCL, ...characterPairs('AB'), EOC, PAD, EOC])
  expect(joined(pairs)).toEqual(['1420', '1420', '4142', '142f', '142f', '142c', '142c'])
  // Shown and taken away again: it is loaded.
  expect(joined([...pairs, ...sent([EOC, EOC])]).slice(-4)).toEqual(['142c', '142c', '142e', '142e'])
  expect(joined([...pairs, ...sent([EDM, EDM, ENM, ENM])]).slice(-2)).toEqual(['142e', '142e'])
})

test('a damaged code is not sent again as a whole one', () => {
  const pairs = sent([RCL, ...characterPairs('AB'), EOC, EOC])
  pairs[2]![1]! ^= 0x80
  expect(joined(pairs)).toEqual(['1420', '4142', '142f', '142c', '142c'])
})
