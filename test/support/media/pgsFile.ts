// In charge of: writing Presentation Graphic Streams as .sup files: rectangles of one colour at exact times.
// Not in charge of: reading them (transcoder/formats/bitmapSubtitles).

export interface PgsRectangle {
  x: number
  y: number
  width: number
  height: number
  /** Limited range; default white. */
  color?: { y: number; cb: number; cr: number; alpha?: number }
  forced?: boolean
}

export interface PgsEvent {
  /** Seconds. */
  at: number
  /** Empty = the screen is cleared. */
  shows: readonly PgsRectangle[]
}

export const PGS_WHITE: NonNullable<PgsRectangle['color']> = { y: 235, cb: 128, cr: 128 }

export function pgsFile(canvas: { width: number; height: number }, events: readonly PgsEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event, number) => displaySet(canvas, event, number)))
}

function displaySet(canvas: { width: number; height: number }, { at, shows }: PgsEvent, number: number): Buffer[] {
  const segment = (type: number, body: Buffer): Buffer => {
    const head = Buffer.alloc(13)
    head.write('PG', 'latin1')
    head.writeUInt32BE(Math.round(at * 90_000), 2)
    head.writeUInt8(type, 10)
    head.writeUInt16BE(body.length, 11)
    return Buffer.concat([head, body])
  }
  const composition = Buffer.from([
    ...short(canvas.width),
    ...short(canvas.height),
    0x10,
    ...short(number),
    // Each set is an epoch of its own.
    shows.length === 0 ? 0 : 0x80,
    0,
    0,
    shows.length,
    ...shows.flatMap(({ x, y, forced }, id) => [...short(id), 0, forced === true ? 0x40 : 0, ...short(x), ...short(y)]),
  ])
  const windows = Buffer.from([
    shows.length,
    ...shows.flatMap(({ x, y, width, height }, id) => [
      id,
      ...short(x),
      ...short(y),
      ...short(width),
      ...short(height),
    ]),
  ])
  const palette = Buffer.from([
    0,
    0,
    ...shows.flatMap(({ color = PGS_WHITE }, id) => [id + 1, color.y, color.cr, color.cb, color.alpha ?? 255]),
  ])
  const objects = shows.map(({ width, height }, id) => {
    const lines = Buffer.concat(Array.from({ length: height }, () => line(width, id + 1)))
    const size = lines.length + 4
    return segment(
      0x15,
      Buffer.concat([
        Buffer.from([...short(id), 0, 0xc0, size >> 16, ...short(size & 0xffff), ...short(width), ...short(height)]),
        lines,
      ]),
    )
  })
  return [
    segment(0x16, composition),
    ...(shows.length === 0 ? [] : [segment(0x17, windows), segment(0x14, palette), ...objects]),
    segment(0x80, Buffer.alloc(0)),
  ]
}

/** A run of up to 16383 pixels of one colour, and the end of the line. */
function line(width: number, color: number): Buffer {
  return Buffer.from([0, 0xc0 | (width >> 8), width & 0xff, color, 0, 0])
}

function short(value: number): [number, number] {
  return [value >> 8, value & 0xff]
}
