// In charge of: the beginning of a group of pictures of MPEG-2, byte by byte.
// Not in charge of: what encoders write (segmenter/fmp4Cutters.test.ts).
import { describe, expect, test } from 'vitest'
import { FormatError } from '../../../../../transcoder/formats/formatError.ts'
import { Mpeg2GopScan } from '../../../../../transcoder/formats/video/mpeg2GopScan.ts'

const code = (value: number, ...body: number[]): number[] => [0, 0, 1, value, ...body]
const SEQUENCE = [...code(0xb3, 0x14, 0x00, 0xb4, 0x33), ...code(0xb5, 0x14, 0x8a)]
const group = (flags: number): number[] => code(0xb8, 0x00, 0x08, 0x00, flags)
const picture = (type: number): number[] => [...code(0x00, 0x00, type << 3, 0xff, 0xf8), ...code(0xb5, 0x8f)]
const SLICE = code(0x01, 0x1b, 0xf9)
const [CLOSED, BROKEN] = [0x40, 0x20]

function scanned(bytes: number[], piece = bytes.length): Mpeg2GopScan {
  const scan = new Mpeg2GopScan()
  for (let at = 0; at < bytes.length; at += piece) scan.push(Uint8Array.from(bytes.slice(at, at + piece)))
  return scan
}

test.each([1, 3, 100])('a closed group with its headers, in pieces of %i bytes', (piece) => {
  const captions = code(0xb2, 0x47, 0x41, 0x39, 0x34)
  const found = scanned([...SEQUENCE, ...group(CLOSED), ...picture(1), ...captions, ...SLICE, ...code(0xb3)], piece)
  expect([found.isIdr, found.sequenceHeader]).toEqual([true, '000001b31400b433000001b5148a'])
})

test('nothing is known before the first slice', () => {
  const found = scanned([...SEQUENCE, ...group(CLOSED), ...picture(1)])
  expect([found.isIdr, found.sequenceHeader]).toEqual([null, ''])
})

describe('no frame to begin with', () => {
  test.each<[string, number[]]>([
    ['an open group', [...SEQUENCE, ...group(0), ...picture(1)]],
    ['a broken link', [...SEQUENCE, ...group(BROKEN), ...picture(1)]],
    ['a picture that refers to another', [...SEQUENCE, ...group(CLOSED), ...picture(2)]],
    ['no group', [...SEQUENCE, ...picture(1)]],
    ['no sequence header', [...group(CLOSED), ...picture(1)]],
  ])('%s', (_, bytes) => {
    expect(scanned([...bytes, ...SLICE]).isIdr).toBe(false)
  })
})

test('an access unit without slices is not collected for ever', () => {
  const scan = new Mpeg2GopScan()
  expect(() => {
    for (let pushed = 0; pushed < 100; pushed++) scan.push(new Uint8Array(1000))
  }).toThrow(FormatError)
})
