// CEA-608 by its commands: what a decoder displays, and when.
import { describe, expect, test } from 'vitest'
import { CaptionDecoder } from '../../../../../transcoder/formats/cea/captionDecoder.ts'
import { characterPairs, withOddParity, ccDataTriplet } from '../../../../support/captions/cea608Bytes.ts'

const RCL = [0x14, 0x20] as const
const BS = [0x14, 0x21] as const
const DER = [0x14, 0x24] as const
const RU2 = [0x14, 0x25] as const
const RU3 = [0x14, 0x26] as const
const RDC = [0x14, 0x29] as const
const RTD = [0x14, 0x2b] as const
const EDM = [0x14, 0x2c] as const
const CR = [0x14, 0x2d] as const
const ENM = [0x14, 0x2e] as const
const EOC = [0x14, 0x2f] as const
/** Row 15, column 0. */
const PAC15 = [0x14, 0x70] as const
type Pair = readonly [number, number]

/** One pair per second, so that times are frame numbers; an array = the pairs of one second. */
function decode(pairs: readonly (Pair | readonly Pair[])[], field: 0 | 1 = 0, end = pairs.length) {
  const decoder = new CaptionDecoder()
  for (const [second, each] of pairs.entries()) {
    const together = typeof each[0] === 'number' ? [each as Pair] : (each as readonly Pair[])
    decoder.push(second, Uint8Array.from(together.flatMap(([a, b]) => ccDataTriplet(field, a, b))))
  }
  return decoder.end(end).channels
}

function told(pairs: readonly (Pair | readonly Pair[])[], field: 0 | 1 = 0) {
  return decode(pairs, field).flatMap(({ channel, cues }) =>
    cues.map(({ start, end, text }) => [channel, start, end, text]),
  )
}

const spoken = (text: string) => [RCL, ENM, PAC15, ...characterPairs(text)]

describe('pop-on', () => {
  test('nothing is seen before the end of the caption, and it stays until it is erased', () => {
    expect(told([RCL, ENM, PAC15, characterPairs('HI THERE'), EOC, [0, 0], [0, 0], EDM, [0, 0]])).toEqual([
      ['CC1', 4, 7, 'HI THERE'],
    ])
  })

  test('control codes are sent twice and meant once; a third is a new one', () => {
    expect(told([[...spoken('ABC '), BS, BS], EOC, EOC, [0, 0]])).toEqual([['CC1', 1, 4, 'ABC']])
    expect(told([[...spoken('ABCD'), BS, BS, BS, BS], EOC, EOC, [0, 0]])).toEqual([['CC1', 1, 4, 'AB']])
  })

  // Each of these does something else when it is executed twice, or a third time.
  const PAD = [0, 0] as const
  test.each([
    ['end of caption', spoken('ONE '), EOC, 'ONE', ''],
    ['carriage return', [RU3, PAC15, ...characterPairs('ONE '), CR, ...characterPairs('TWO ')], CR, 'ONE\nTWO', 'TWO'],
    ['backspace', [RDC, PAC15, ...characterPairs('ABCD')], BS, 'ABC', 'AB'],
    ['tab', [RDC, PAC15, ...characterPairs('AB')], [0x17, 0x21], 'AB XY', 'AB  XY'],
    ['special character', [RDC, PAC15, ...characterPairs('AB')], [0x11, 0x37], 'AB♪', 'AB♪♪'],
    ['extended character', [RDC, PAC15, ...characterPairs('ABCD')], [0x12, 0x21], 'ABCÉ', 'ABCÉ'],
  ] as [string, Pair[], Pair, string, string][])(
    'padding between the two sendings: %s',
    (name, before, code, once, twice) => {
      const after = name === 'tab' ? characterPairs('XY') : []
      for (const field of [0, 1] as const) {
        const shown = (codes: Pair[]) => told([[...before, ...codes, ...after], PAD], field).at(-1)?.[3] ?? ''
        expect(shown([code, code]), 'no padding').toBe(once)
        expect(shown([code, PAD, code]), 'one pair').toBe(once)
        expect(shown([PAD, code, PAD, PAD, PAD, code, PAD]), 'more').toBe(once)
        expect(shown([code, PAD, code, PAD, code]), 'a third sending').toBe(twice)
      }
    },
  )

  test('padding between the codes of another channel or field', () => {
    const second = ([a, b]: Pair): Pair => [a | 8, b]
    // The repetition of CC1 does not come: another code is between.
    expect(told([[...spoken('ABCD'), BS, PAD, second(BS), PAD, RCL, BS], EOC, [0, 0]])[0]?.[3]).toBe('AB')
    const decoder = new CaptionDecoder()
    const both = (pairs: readonly [Pair, Pair][]) =>
      Uint8Array.from(pairs.flatMap(([one, two]) => [...ccDataTriplet(0, ...one), ...ccDataTriplet(1, ...two)]))
    decoder.push(0, both(spoken('ONE ').map((pair) => [pair, pair])))
    decoder.push(1, both([[EOC, PAD], [PAD, EOC], [EOC, PAD], [PAD, EOC]])) // prettier-ignore
    expect(decoder.end(3).channels.map(({ cues }) => cues.map(({ start, end }) => [start, end]))).toEqual([
      [[1, 3]],
      [[1, 3]],
    ])
  })

  test.each([
    ['the first one', [EOC, PAD, EOC], 0, 'AB'],
    ['the second one', [EOC, PAD, EOC], 2, 'AB'],
    ['padding between them', [EOC, PAD, EOC], 1, 'AB'],
    ['the second one, and the code comes again', [EOC, EOC, EOC], 1, ''],
  ] as [string, Pair[], number, string][])('a parity error of %s', (_name, pairs, damaged, text) => {
    for (const byte of [1, 2]) {
      const decoder = new CaptionDecoder()
      decoder.push(0, Uint8Array.from(spoken('AB').flatMap(([a, b]) => ccDataTriplet(0, a, b))))
      const bytes = pairs.flatMap(([a, b]) => ccDataTriplet(0, a, b))
      bytes[3 * damaged + byte]! ^= 0x80
      decoder.push(1, Uint8Array.from(bytes))
      decoder.push(2, Uint8Array.from(ccDataTriplet(0, 0, 0)))
      expect(decoder.end(3).channels[0]?.cues[0]?.text ?? '').toBe(text)
    }
  })

  test('a new caption replaces the previous one immediately', () => {
    expect(told([spoken('ONE '), EOC, spoken('TWO '), EOC, [0, 0]])).toEqual([
      ['CC1', 1, 3, 'ONE'],
      ['CC1', 3, 5, 'TWO'],
    ])
  })

  test('what is still seen at the end stays to the end', () => {
    expect(told([spoken('ONE '), EOC, [0, 0]])).toEqual([['CC1', 1, 3, 'ONE']])
  })

  test('interleaved data of CC1 to CC4 is decoded per channel', () => {
    const second = ([a, b]: Pair): Pair => [a >= 0x10 && a < 0x20 ? a | 8 : a, b]
    const decoder = new CaptionDecoder()
    const push = (time: number, field: 0 | 1, pairs: readonly Pair[]) =>
      decoder.push(time, Uint8Array.from(pairs.flatMap(([a, b]) => ccDataTriplet(field, a, b))))
    push(0, 0, [...spoken('ONE '), ...spoken('TWO ').map(second)])
    push(0, 1, [...spoken('THREE '), ...spoken('FOUR').map(second)])
    push(1, 0, [EOC, second(EOC)])
    push(2, 1, [EOC])
    push(3, 1, [second(EOC)])
    expect(decoder.end(5).channels.map(({ channel, cues }) => [channel, cues[0]?.start, cues[0]?.text])).toEqual([
      ['CC1', 1, 'ONE'],
      ['CC2', 1, 'TWO'],
      ['CC3', 2, 'THREE'],
      ['CC4', 3, 'FOUR'],
    ])
  })

  test('data about the programme between the captions of field 2 is no text', () => {
    expect(
      told([[...spoken('AB'), [0x01, 0x03], ...characterPairs('XXXX'), [0x0f, 0x1d], PAC15], EOC, [0, 0]], 1),
    ).toEqual([['CC3', 1, 3, 'AB']])
  })

  test('text mode is not captions', () => {
    expect(told([[RTD, ...characterPairs('NEWS')], EOC, [0, 0]])).toEqual([])
  })
})

describe('roll-up', () => {
  test('each carriage return moves the lines up; a line is there as a whole from its first character on', () => {
    expect(
      told([
        [RU2, CR, PAC15, ...characterPairs('FIRST ')],
        [...characterPairs('LINE')],
        [0, 0],
        [CR, PAC15, ...characterPairs('SECOND')],
        [0, 0],
        [CR, PAC15, ...characterPairs('THIRD ')],
        [0, 0],
      ]),
    ).toEqual([
      // The second half came a second later: the first part stands alone until then.
      ['CC1', 0, 1, 'FIRST'],
      ['CC1', 1, 3, 'FIRST LINE'],
      ['CC1', 3, 5, 'FIRST LINE\nSECOND'],
      ['CC1', 5, 7, 'SECOND\nTHIRD'],
    ])
  })

  test('text written without a pause is one cue', () => {
    const decoder = new CaptionDecoder()
    const line = [RU3, PAC15, ...characterPairs('WRITTEN AS ONE SPEAKS')] as readonly Pair[]
    for (const [frame, [a, b]] of line.entries()) decoder.push(frame / 30, Uint8Array.from(ccDataTriplet(0, a, b)))
    expect(decoder.end(3).channels[0]?.cues).toMatchObject([{ start: 2 / 30, end: 3, text: 'WRITTEN AS ONE SPEAKS' }])
  })

  test('another base row moves the window', () => {
    const [track] = decode([[RU2, CR, PAC15, ...characterPairs('UP')], [0, 0], [[0x11, 0x60]], [0, 0]])
    expect(track?.cues.map(({ start, text, settings }) => [start, text, settings])).toEqual([
      [0, 'UP', 'line:90%,end position:10% align:start'],
      [2, 'UP', 'line:15.33% position:10% align:start'],
    ])
  })
})

describe('paint-on', () => {
  test('rows follow the order of arrival; Delete to End of Row erases the rest of the row', () => {
    expect(
      told([
        [RDC, PAC15, ...characterPairs('PAINTED')],
        [0, 0],
        [PAC15, [0x17, 0x21], [0x17, 0x22], DER],
        [0, 0],
      ]),
    ).toEqual([
      ['CC1', 0, 2, 'PAINTED'],
      ['CC1', 2, 4, 'PAI'],
    ])
  })
})

describe('characters', () => {
  test.each([
    ['the basic set is not quite ASCII', [0x2a, 0x5c, 0x5e, 0x5f, 0x60, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f], 'áéíóúç÷Ññ█'],
  ])('%s', (_name, codes, text) => {
    expect(told([[RCL, PAC15, ...pairsOf(codes)], EOC, [0, 0]])).toEqual([['CC1', 1, 3, text]])
  })

  test.each([
    [[0x11, 0x37], 'A♪'],
    [[0x19, 0x37], null],
    [[0x11, 0x2e], 'A'],
    // Extended characters replace the preceding one.
    [[0x12, 0x21], 'É'],
    [[0x13, 0x34], 'ß'],
  ] as const)('%j', ([first, second], text) => {
    const seen = told([[RCL, PAC15, [0x41, 0], [first, second]], EOC, [0, 0]])
    expect(seen).toEqual([['CC1', 1, 3, text ?? 'A']])
  })

  test('damaged bytes: a pair whose first byte is wrong is passed over, a wrong second byte is shown as a block', () => {
    const decoder = new CaptionDecoder()
    const good = spoken('AB').flatMap(([a, b]) => ccDataTriplet(0, a, b))
    // The control code with a parity error is ignored, the repetition is executed.
    decoder.push(
      0,
      Uint8Array.from([
        ...good,
        0xfc,
        withOddParity(0x43) ^ 0x80,
        withOddParity(0x44),
        0xfc,
        withOddParity(0x45),
        withOddParity(0x46) ^ 0x80,
      ]),
    )
    decoder.push(1, Uint8Array.from([0xfc, withOddParity(0x14), withOddParity(0x2f) ^ 0x80]))
    decoder.push(2, Uint8Array.from(ccDataTriplet(0, 0x14, 0x2f)))
    expect(decoder.end(3).channels[0]?.cues).toMatchObject([{ start: 2, text: 'ABE█' }])
  })
})

describe('places', () => {
  test.each([
    // Rows 1, 15 and the middle; indents of 0 and 16 columns; a tab of 3.
    [[[0x11, 0x40]], 'line:10% position:10% align:start'],
    [[[0x14, 0x60]], 'line:90%,end position:10% align:start'],
    [[[0x14, 0x78]], 'line:90%,end position:50% align:start'],
    [
      [
        [0x10, 0x58],
        [0x17, 0x23],
      ],
      'line:68.67%,end position:57.5% align:start',
    ],
  ] as [Pair[], string][])('%j', (codes, settings) => {
    expect(decode([[RCL, ...codes, ...characterPairs('AB')], EOC, [0, 0]])[0]?.cues[0]).toMatchObject({
      text: 'AB',
      settings,
    })
  })

  test('rows with one middle are centred', () => {
    // Row 14 at column 12, row 15 at column 14.
    const pairs: Pair[] = [
      RCL,
      [0x14, 0x56],
      ...characterPairs('ABCDEFGH'),
      [0x14, 0x76],
      [0x17, 0x22],
      ...characterPairs('IJKL'),
    ]
    expect(decode([pairs, EOC, [0, 0]])[0]?.cues[0]).toMatchObject({
      text: 'ABCDEFGH\nIJKL',
      settings: 'line:90%,end position:50% align:center',
    })
  })

  test('non-adjacent rows become separate cues, and an unchanged row is not split', () => {
    const both: Pair[] = [RDC, [0x11, 0x40], ...characterPairs('TOP '), PAC15, ...characterPairs('LOW ')]
    const seen = told([both, [0, 0], [PAC15, DER, ...characterPairs('NEW ')], [0, 0], EDM])
    expect(seen).toEqual([
      ['CC1', 0, 2, 'LOW'],
      ['CC1', 0, 4, 'TOP'],
      ['CC1', 2, 4, 'NEW'],
    ])
  })
})

test('a stream that changes without end is truncated to bound memory', () => {
  const decoder = new CaptionDecoder()
  const flip = Uint8Array.from([RDC, PAC15, DER, [0x41, 0] as const].flatMap(([a, b]) => ccDataTriplet(0, a, b)))
  const flop = Uint8Array.from([RDC, PAC15, DER, [0x42, 0] as const].flatMap(([a, b]) => ccDataTriplet(0, a, b)))
  for (let picture = 0; picture < 210_000; picture += 1) decoder.push(picture / 30, picture % 2 === 0 ? flip : flop)
  const { channels, isOverLimit } = decoder.end(7000)
  expect(isOverLimit).toBe(true)
  expect(channels[0]?.cues.length).toBe(200_000)
})

function pairsOf(codes: readonly number[]): Pair[] {
  return Array.from({ length: Math.ceil(codes.length / 2) }, (_, at): Pair => [codes[at * 2]!, codes[at * 2 + 1] ?? 0])
}
