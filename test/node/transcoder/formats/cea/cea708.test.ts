// CEA-708 by its commands: windows, pens, characters, and packets that span several frames.
import { describe, expect, test } from 'vitest'
import { CaptionDecoder } from '../../../../../transcoder/formats/cea/captionDecoder.ts'

const ascii = (text: string) => [...Buffer.from(text, 'latin1')]
const bits = (ids: readonly number[]) => ids.reduce((sum, id) => sum | (1 << id), 0)
const clear = (...ids: number[]) => [0x88, bits(ids)]
const display = (...ids: number[]) => [0x89, bits(ids)]
const hide = (...ids: number[]) => [0x8a, bits(ids)]
const toggle = (...ids: number[]) => [0x8b, bits(ids)]
const remove = (...ids: number[]) => [0x8c, bits(ids)]
/** Rows, anchored at the bottom centre, at 90 % and 50 %. */
const define = (id: number, { visible = true, rows = 2 } = {}) => [
  0x98 + id,
  visible ? 0x38 : 0x18,
  0x80 | 90,
  50,
  0x70 | (rows - 1),
  31,
  0x11,
]

/** A packet of service blocks as triplets. */
function packet(blocks: readonly (readonly [service: number, bytes: readonly number[]])[]): number[] {
  const body = blocks.flatMap(([service, bytes]) =>
    service < 7 ? [(service << 5) | bytes.length, ...bytes] : [0xe0 | bytes.length, service, ...bytes],
  )
  const whole = body.length % 2 === 0 ? [...body, 0] : body
  const all = [(whole.length + 1) / 2, ...whole]
  return Array.from({ length: all.length / 2 }, (_, at) => [
    at === 0 ? 0xff : 0xfe,
    all[at * 2]!,
    all[at * 2 + 1]!,
  ]).flat()
}

/** One packet per second for service 1. */
function told(packets: readonly (readonly number[])[]) {
  const decoder = new CaptionDecoder()
  for (const [second, bytes] of packets.entries())
    decoder.push(second, Uint8Array.from(bytes.length === 0 ? [] : packet([[1, bytes]])))
  return (decoder.end(packets.length).channels[0]?.cues ?? []).map(({ start, end, text }) => [start, end, text])
}

describe('windows', () => {
  test('what is written into a hidden window is seen when it is displayed, and until it is hidden', () => {
    expect(told([[...define(0, { visible: false }), ...ascii('HI')], display(0), [], hide(0), []])).toEqual([
      [1, 3, 'HI'],
    ])
  })

  test.each([
    ['cleared', clear(0)],
    ['deleted', remove(0)],
    ['toggled', toggle(0)],
    ['reset', [0x8f]],
    ['form feed', [0x80, 0x0c]],
  ])('%s: gone', (_name, bytes) => {
    expect(told([[...define(0), ...ascii('HI')], bytes, []])).toEqual([[0, 1, 'HI']])
  })

  test('two windows become separate cues', () => {
    expect(
      told([[...define(0), ...ascii('ONE'), ...define(1)], ascii('TWO'), [], remove(0), [], remove(1), []]),
    ).toEqual([
      [0, 3, 'ONE'],
      [1, 5, 'TWO'],
    ])
  })

  test('defined again, the text stays; characters go to the window that is current', () => {
    expect(told([[...define(0), ...define(1), 0x80, ...ascii('A'), 0x81, ...ascii('B'), ...define(0)], []])).toEqual([
      [0, 2, 'A'],
      [0, 2, 'B'],
    ])
  })

  test('the last row scrolls', () => {
    expect(told([[...define(0), ...ascii('ONE'), 0x0d, ...ascii('TWO')], [], [0x0d], ascii('THREE'), []])).toEqual([
      [0, 2, 'ONE\nTWO'],
      [2, 3, 'TWO'],
      [3, 5, 'TWO\nTHREE'],
    ])
  })

  test.each([
    // Anchors in percent: top left, bottom centre; in the grid: its middle.
    [[0x98, 0x38, 0x80, 0, 0x00, 31, 0x11], 'line:10% position:10% align:start'],
    [[0x98, 0x38, 0x80 | 100, 50, 0x71, 31, 0x11], 'line:90%,end position:50%,center align:start'],
    [[0x98, 0x38, 37, 105, 0x41, 31, 0x11, 0x97, 0, 0, 2, 0], 'line:49.47%,center position:50% align:center'],
  ])('%j', (bytes, settings) => {
    const decoder = new CaptionDecoder()
    decoder.push(0, Uint8Array.from(packet([[1, [...bytes, ...ascii('HI')]]])))
    expect(decoder.end(1).channels[0]?.cues[0]).toMatchObject({ text: 'HI', settings })
  })
})

describe('text', () => {
  test.each([
    [[...ascii('A'), 0x7f, 0xe9], 'A♪é'],
    [[0x10, 0x33, ...ascii('Q'), 0x10, 0x34, 0x10, 0x25], '“Q”…'],
    // Unknown characters become an underscore; commands of later editions are skipped with their parameters.
    [[0x10, 0x40, 0x10, 0x08, 0x41, 0x10, 0x90, 2, 0x41, 0x41, ...ascii('B')], '_B'],
    [[...ascii('AX'), 0x08, ...ascii('B')], 'AB'],
    [[0x18, 0x20, 0xac], '€'],
    // The pen at row 1, column 0, then pen attributes and colours, which plain text cannot express.
    [[0x92, 1, 0, ...ascii('LOW'), 0x92, 0, 0, 0x90, 5, 0, 0x91, 0x3f, 0, 0, ...ascii('TOP')], 'TOP\nLOW'],
  ])('%j', (bytes, text) => {
    expect(told([[...define(0), ...bytes]])).toEqual([[0, 1, text]])
  })

  test('a delay holds back what follows it, until it is over or cancelled', () => {
    const text = [...define(0), ...ascii('NOW'), 0x8d, 20, 0x0d, ...ascii('THEN')]
    expect(told([text, [], [], []])).toEqual([
      [0, 2, 'NOW'],
      [2, 4, 'NOW\nTHEN'],
    ])
    expect(told([text, [0x8e], [], []])).toEqual([
      [0, 1, 'NOW'],
      [1, 4, 'NOW\nTHEN'],
    ])
  })
})

describe('packets', () => {
  test('services are decoded separately, including numbers above six', () => {
    const decoder = new CaptionDecoder()
    const say = (text: string) => [...define(0), ...ascii(text)]
    decoder.push(
      0,
      Uint8Array.from(
        packet([
          [1, say('ONE')],
          [9, say('NINE')],
          [2, say('TWO')],
        ]),
      ),
    )
    expect(decoder.end(1).channels.map(({ channel, cues }) => [channel, cues[0]?.text])).toEqual([
      ['SERVICE1', 'ONE'],
      ['SERVICE2', 'TWO'],
      ['SERVICE9', 'NINE'],
    ])
  })

  test('a packet split over several frames is decoded once it is complete', () => {
    const decoder = new CaptionDecoder()
    const bytes = packet([[1, [...define(0), ...ascii('SPREAD')]]])
    for (let at = 0; at < bytes.length; at += 6) decoder.push(at / 6, Uint8Array.from(bytes.slice(at, at + 6)))
    expect(decoder.end(10).channels[0]?.cues).toMatchObject([
      { start: Math.ceil(bytes.length / 6) - 1, text: 'SPREAD' },
    ])
  })

  test('nonsense: nothing throws', () => {
    let seed = 7
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 8
    const decoder = new CaptionDecoder()
    for (let picture = 0; picture < 20_000; picture += 1)
      decoder.push(
        picture,
        Uint8Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? 0xfc | (random() & 3) : random() & 255)),
      )
    const { channels } = decoder.end(20_000)
    for (const { cues } of channels)
      for (const { start, end } of cues) expect(start >= 0 && end > start && end <= 20_000).toBe(true)
  })
})
