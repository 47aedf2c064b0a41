// JPEGs in one stream, wherever it is split.
/* oxlint-disable unicorn/no-useless-spread -- what belongs to one marker stays on one line */
import { describe, expect, test } from 'vitest'
import { JpegSplitter } from '../../../../transcoder/formats/jpegSplitter.ts'

/** A comment that contains an end marker, coded data with a stuffed ff and a restart marker, two scans. */
const picture = (last: number) => [
  ...[0xff, 0xd8, 0xff, 0xfe, 0, 6, 0xff, 0xd9, 0xff, 0xd8],
  ...[0xff, 0xda, 0, 3, 1, 7, 0xff, 0x00, 8, 0xff, 0xd0, 9],
  ...[0xff, 0xda, 0, 3, 1, last, 0xff, 0xd9],
]
const stream = Uint8Array.from([...picture(1), ...picture(2), ...picture(3)])

test.each([1, 2, 3, 7, 29, 30, 1000])('in chunks of %i', (size) => {
  const splitter = new JpegSplitter()
  const found: Uint8Array[] = []
  for (let at = 0; at < stream.length; at += size) found.push(...splitter.push(stream.subarray(at, at + size)))
  splitter.end()
  expect(found.map((each) => [...each])).toEqual([picture(1), picture(2), picture(3)])
})

describe('what is not whole', () => {
  test('cut off', () => {
    const splitter = new JpegSplitter()
    expect(splitter.push(stream.subarray(0, -1))).toHaveLength(2)
    expect(() => splitter.end()).toThrow('truncated')
  })

  test.each([[[1, 2, 3]], [[0xff, 0xd9]], [[...picture(1), 0, 0]], [[0xff, 0xd8, 0, 0]]])(
    '%j is not a JPEG',
    (bytes) => {
      expect(() => new JpegSplitter().push(Uint8Array.from(bytes))).toThrow('not a JPEG')
    },
  )

  test('without an end it is given up', () => {
    const splitter = new JpegSplitter()
    splitter.push(Uint8Array.from([0xff, 0xd8, 0xff, 0xda, 0, 3, 1]))
    const push = () => splitter.push(new Uint8Array(6 * 1024 * 1024))
    push()
    push()
    expect(push).toThrow('maximum size')
  })
})
