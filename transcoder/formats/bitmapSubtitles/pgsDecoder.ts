// In charge of: Presentation Graphic Streams of Blu-ray discs (HDMV PGS): compositions of objects, their palettes and run
// lengths.
// Not in charge of: when a composition is shown (subtitleTimeline.ts).
import {
  MAX_CANVAS_PIXELS,
  PALETTE_BYTES,
  setColor,
  type CanvasSize,
  type DisplaySet,
  type SubtitleDecoder,
  type SubtitleImage,
} from './displaySet.ts'

const PALETTE = 0x14
const OBJECT = 0x15
const COMPOSITION = 0x16
const END = 0x80
const HEADER_BYTES = 3
/** Discs have 64 objects of at most 1 MiB in all, 8 palettes, and show 2 objects at a time. */
const MAX_OBJECTS = 256
const MAX_OBJECT_BYTES = 16 * 1024 * 1024
const MAX_PLACES = 8
/** Pixels and bytes of all objects that are kept. */
const MAX_KEPT_PIXELS = 4 * MAX_CANVAS_PIXELS
const MAX_KEPT_BYTES = 64 * 1024 * 1024

interface PlacedObject {
  id: number
  x: number
  y: number
  /** The part of the object that is shown; null = all of it. */
  crop: { x: number; y: number; width: number; height: number } | null
}

interface Composition {
  canvas: CanvasSize
  palette: number
  objects: PlacedObject[]
}

interface PgsObject {
  width: number
  height: number
  data: Uint8Array[]
  bytes: number
  expected: number
  /** Decoded when it is shown first. */
  pixels: Uint8Array | null
}

export class PgsDecoder implements SubtitleDecoder {
  readonly #objects = new Map<number, PgsObject>()
  readonly #palettes = new Map<number, Uint8Array>()
  #composition: Composition | null = null
  #damaged = 0

  get damaged(): number {
    return this.#damaged
  }

  decode(packet: Uint8Array): DisplaySet[] {
    const sets: DisplaySet[] = []
    let isDamaged = false
    let at = 0
    while (at + HEADER_BYTES <= packet.length) {
      const end = at + HEADER_BYTES + ((packet[at + 1]! << 8) | packet[at + 2]!)
      if (end > packet.length) break
      try {
        const set = this.#segment(packet[at]!, packet.subarray(at + HEADER_BYTES, end))
        if (set !== null) sets.push(set)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        isDamaged = true
      }
      at = end
    }
    if (isDamaged || at < packet.length) this.#damaged += 1
    return sets
  }

  /** The set that ends with this segment. Throws RangeError. */
  #segment(type: number, body: Uint8Array): DisplaySet | null {
    if (type === COMPOSITION) this.#compose(body)
    else if (type === PALETTE) this.#palette(body)
    else if (type === OBJECT) this.#object(body)
    if (type !== END || this.#composition === null) return null
    const shown = this.#shown(this.#composition)
    this.#composition = null
    return shown
  }

  #compose(body: Uint8Array): void {
    const view = viewOf(body)
    this.#composition = null
    const canvas = { width: view.getUint16(0), height: view.getUint16(2) }
    if (canvas.width === 0 || canvas.height === 0 || canvas.width * canvas.height > MAX_CANVAS_PIXELS)
      throw new RangeError('the canvas has no usable size')
    // Epoch start: nothing of before is used again.
    if ((view.getUint8(7) & 0x80) !== 0) {
      this.#objects.clear()
      this.#palettes.clear()
    }
    const objects: PlacedObject[] = []
    const count = Math.min(view.getUint8(10), MAX_PLACES)
    for (let at = 11; objects.length < count;) {
      const isCropped = (view.getUint8(at + 3) & 0x80) !== 0
      const [id, x, y] = [view.getUint16(at), view.getUint16(at + 4), view.getUint16(at + 6)]
      const [left, top, width, height] = isCropped ? [8, 10, 12, 14].map((of) => view.getUint16(at + of)) : []
      objects.push({ id, x, y, crop: isCropped ? { x: left!, y: top!, width: width!, height: height! } : null })
      at += isCropped ? 16 : 8
    }
    this.#composition = { canvas, palette: view.getUint8(9), objects }
  }

  #palette(body: Uint8Array): void {
    const id = viewOf(body).getUint8(0)
    const palette = this.#palettes.get(id) ?? new Uint8Array(PALETTE_BYTES)
    this.#palettes.set(id, palette)
    const matrix = (this.#composition?.canvas.height ?? 1080) > 576 ? 'bt709' : 'bt601'
    for (let at = 2; at + 5 <= body.length; at += 5) {
      const [index, y, cr, cb, alpha] = body.subarray(at, at + 5)
      setColor(palette, index!, { y: y!, cr: cr!, cb: cb!, alpha: alpha! }, matrix)
    }
  }

  /** An object may be spread over several segments; the first one states its size. */
  #object(body: Uint8Array): void {
    const view = viewOf(body)
    const [id, isFirst] = [view.getUint16(0), (view.getUint8(3) & 0x80) !== 0]
    const known = this.#objects.get(id)
    if (!isFirst) {
      if (known === undefined) throw new RangeError('the beginning of an object is missing')
      return append(known, body.subarray(4))
    }
    // The length counts width and height, too.
    const expected = view.getUint8(4) * 65_536 + view.getUint16(5) - 4
    const [width, height] = [view.getUint16(7), view.getUint16(9)]
    if (expected < 0 || expected > MAX_OBJECT_BYTES || width * height > MAX_CANVAS_PIXELS)
      throw new RangeError('an object is too large')
    if (known === undefined && this.#objects.size >= MAX_OBJECTS) throw new RangeError('there are too many objects')
    this.#objects.delete(id)
    const kept = [...this.#objects.values()]
    const pixelsKept = kept.reduce((sum, object) => sum + object.width * object.height, 0)
    const bytesKept = kept.reduce((sum, object) => sum + object.expected, 0)
    if (pixelsKept + width * height > MAX_KEPT_PIXELS || bytesKept + expected > MAX_KEPT_BYTES)
      throw new RangeError('the objects are too large')
    const object: PgsObject = { width, height, data: [], bytes: 0, expected, pixels: null }
    this.#objects.set(id, object)
    append(object, body.subarray(11))
  }

  #shown({ canvas, palette, objects }: Composition): DisplaySet {
    const colors = this.#palettes.get(palette)?.slice()
    const images = objects.flatMap(({ id, x, y, crop }): SubtitleImage[] => {
      const object = this.#objects.get(id)
      if (object === undefined || colors === undefined) return []
      object.pixels ??= decodeRuns(object)
      const { width, height, pixels } = object
      const whole = { x, y, width, height, pixels, palette: colors }
      return crop === null ? [whole] : cropped(whole, crop)
    })
    return { canvas, images, timeoutSeconds: null }
  }
}

function append(object: PgsObject, bytes: Uint8Array): void {
  const wanted = bytes.subarray(0, object.expected - object.bytes)
  object.data.push(Uint8Array.from(wanted))
  object.bytes += wanted.length
}

/** Lines that are missing or cut off stay transparent: palette entry 255 is never a visible colour on discs. */
const TRANSPARENT = 255

function decodeRuns({ width, height, data, bytes }: PgsObject): Uint8Array {
  const coded = new Uint8Array(bytes)
  let offset = 0
  for (const part of data) {
    coded.set(part, offset)
    offset += part.length
  }
  const pixels = new Uint8Array(width * height).fill(TRANSPARENT)
  let [x, y] = [0, 0]
  for (let at = 0; at < coded.length && y < height;) {
    const byte = coded[at++]!
    let [length, color] = [1, byte]
    if (byte === 0) {
      const flags = coded[at++] ?? 0
      if (flags === 0) {
        x = 0
        y += 1
        continue
      }
      length = flags & 0x3f
      if ((flags & 0x40) !== 0) length = (length << 8) | (coded[at++] ?? 0)
      color = (flags & 0x80) === 0 ? 0 : (coded[at++] ?? 0)
    }
    const until = Math.min(width, x + length)
    pixels.fill(color, y * width + x, y * width + until)
    x = until
  }
  return pixels
}

function cropped(image: SubtitleImage, crop: NonNullable<PlacedObject['crop']>): SubtitleImage[] {
  const width = Math.min(crop.width, image.width - crop.x)
  const height = Math.min(crop.height, image.height - crop.y)
  if (width <= 0 || height <= 0) return []
  const pixels = new Uint8Array(width * height)
  for (let line = 0; line < height; line++) {
    const from = (crop.y + line) * image.width + crop.x
    pixels.set(image.pixels.subarray(from, from + width), line * width)
  }
  return [{ ...image, width, height, pixels }]
}

/** Reads past the end throw RangeError. */
function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
