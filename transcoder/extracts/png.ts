// In charge of: writing an image of two colours as PNG (W3C PNG, second edition).
// Not in charge of: what it shows (formats/waveform/waveformImage.ts).
import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** `rows`: one bit per pixel. Colours as `#rrggbb` or `#rrggbbaa`: of the pixels that are 0, and of those that are 1. */
export function twoColorPng(width: number, rows: readonly Uint8Array[], colors: readonly [string, string]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length, 4)
  // One bit per pixel, from a palette.
  header.writeUInt8(1, 8)
  header.writeUInt8(3, 9)
  const palette = colors.map((color) => Buffer.from(color.slice(1).padEnd(8, 'f'), 'hex'))
  // Each row begins with the number of its filter: none.
  const pixels = Buffer.concat(rows.flatMap((row) => [Buffer.alloc(1), row]))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.concat(palette.map((color) => color.subarray(0, 3)))),
    chunk('tRNS', Buffer.concat(palette.map((color) => color.subarray(3, 4)))),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const made = Buffer.alloc(body.length + 8)
  made.writeUInt32BE(data.length, 0)
  body.copy(made, 4)
  made.writeUInt32BE(crc32(body), body.length + 4)
  return made
}
