// In charge of: writing an image of two colours, or of RGBA, as PNG (W3C PNG, second edition).
// Not in charge of: what it shows (formats/waveform/waveformImage.ts, formats/bitmapSubtitles/subtitleArea.ts).
import { promisify } from 'node:util'
import { constants, crc32, deflate, deflateSync } from 'node:zlib'

const compress = promisify(deflate)

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** `rows`: one bit per pixel. `colors`: of pixels that are 0, and of pixels that are 1, as `#rrggbb` or `#rrggbbaa`. */
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

/** `pixels`: R, G, B, A of each. They are compressed fast: most of a subtitle is transparent. */
export async function rgbaPng(width: number, height: number, pixels: Uint8Array): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits each of red, green, blue and alpha.
  header.writeUInt8(8, 8)
  header.writeUInt8(6, 9)
  const stride = width * 4
  const rows = Buffer.alloc((stride + 1) * height)
  for (let row = 0; row < height; row++)
    rows.set(pixels.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', await compress(rows, { level: constants.Z_BEST_SPEED })),
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
