// In charge of: DVB subtitles: pages of regions, in which objects are drawn, with their colours (ETSI EN 300 743, 7.2).
// Not in charge of: run lengths (dvbPixels.ts), when a page is shown (subtitleTimeline.ts).
import { drawField, type PixelDepth } from './dvbPixels.ts'
import {
  MAX_CANVAS_PIXELS,
  PALETTE_BYTES,
  setColor,
  type CanvasSize,
  type DisplaySet,
  type SubtitleDecoder,
  type SubtitleImage,
} from './displaySet.ts'

const SYNC = 0x0f
const PAGE = 0x10
const REGION = 0x11
const CLUT = 0x12
const OBJECT = 0x13
const DISPLAY = 0x14
const END = 0x80

/** Without a display definition (5.1.3). */
const SD: CanvasSize = { width: 720, height: 576 }
/** An object is decoded once for each place. A packet of 64 KiB that is drawn this often takes a tenth of a second. */
const MAX_OBJECT_PLACES = 16
/** Pixels of all regions together. A page that covers a whole canvas of 1920 × 1080 needs 2 MiB. */
const MAX_REGION_PIXELS = MAX_CANVAS_PIXELS

interface Region {
  width: number
  height: number
  depth: PixelDepth
  clut: number
  pixels: Uint8Array
  objects: { id: number; x: number; y: number }[]
}

interface Page {
  timeoutSeconds: number
  regions: { id: number; x: number; y: number }[]
}

/**
 * `pages`: composition and ancillary page of the service, as the descriptor of the stream names them; null = all pages
 * belong to the service.
 */
export class DvbDecoder implements SubtitleDecoder {
  readonly #pages: ReadonlySet<number> | null
  readonly #regions = new Map<number, Region>()
  readonly #cluts = new Map<number, Record<PixelDepth, Uint8Array>>()
  #canvas = SD
  /** Where regions are placed inside of the canvas. */
  #window = { x: 0, y: 0 }
  #page: Page | null = null
  #damaged = 0

  constructor(pages: ReadonlySet<number> | null = null) {
    this.#pages = pages
  }

  get damaged(): number {
    return this.#damaged
  }

  decode(packet: Uint8Array): DisplaySet[] {
    let isDamaged = false
    let hasPage = false
    // PES_data_field: data_identifier and subtitle_stream_id, which some containers leave out.
    let at = packet[0] === 0x20 && packet[1] === 0x00 ? 2 : 0
    while (packet[at] === SYNC) {
      const [type, page] = [packet[at + 1]!, ((packet[at + 2] ?? 0) << 8) | (packet[at + 3] ?? 0)]
      const end = at + 6 + (((packet[at + 4] ?? 0) << 8) | (packet[at + 5] ?? 0))
      if (end > packet.length) {
        isDamaged = true
        break
      }
      const body = packet.subarray(at + 6, end)
      at = end
      if (type === END) break
      if (this.#pages !== null && !this.#pages.has(page)) continue
      try {
        hasPage = this.#segment(type, body) || hasPage
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        isDamaged = true
      }
    }
    if (isDamaged || (at === 0 && packet.length > 0)) this.#damaged += 1
    // Some multiplexers leave the end of the display set out: a packet contains one set.
    return hasPage && this.#page !== null ? [this.#shown(this.#page)] : []
  }

  /** True for a page composition. Throws RangeError. */
  #segment(type: number, body: Uint8Array): boolean {
    switch (type) {
      case PAGE:
        this.#compose(body)
        return true
      case REGION:
        this.#region(body)
        return false
      case CLUT:
        this.#clut(body)
        return false
      case OBJECT:
        this.#object(body)
        return false
      case DISPLAY:
        this.#display(body)
        return false
      default:
        return false
    }
  }

  #display(body: Uint8Array): void {
    const view = viewOf(body)
    const hasWindow = (view.getUint8(0) & 8) !== 0
    const canvas = { width: view.getUint16(1) + 1, height: view.getUint16(3) + 1 }
    if (canvas.width * canvas.height > MAX_CANVAS_PIXELS) throw new RangeError('the canvas is too large')
    this.#window = hasWindow ? { x: view.getUint16(5), y: view.getUint16(9) } : { x: 0, y: 0 }
    this.#canvas = canvas
  }

  #compose(body: Uint8Array): void {
    const view = viewOf(body)
    const state = (view.getUint8(1) >> 2) & 3
    // Acquisition point and mode change: everything that is used is sent again.
    if (state === 1 || state === 2) {
      this.#regions.clear()
      this.#cluts.clear()
    }
    // A region is in a page once: its pixels are copied for each place.
    const regions = new Map<number, Page['regions'][number]>()
    for (let at = 2; at + 6 <= body.length; at += 6) {
      const id = view.getUint8(at)
      regions.set(id, { id, x: view.getUint16(at + 2), y: view.getUint16(at + 4) })
    }
    this.#page = { timeoutSeconds: view.getUint8(0), regions: [...regions.values()] }
  }

  #region(body: Uint8Array): void {
    const view = viewOf(body)
    const id = view.getUint8(0)
    const isFilled = (view.getUint8(1) & 8) !== 0
    const [width, height] = [view.getUint16(2), view.getUint16(4)]
    const depth = DEPTHS[(view.getUint8(6) >> 2) & 7]
    if (depth === undefined || width === 0 || height === 0) throw new RangeError('a region has no pixels')
    const before = this.#regions.get(id)
    const others = [...this.#regions].reduce((sum, [other, { pixels }]) => sum + (other === id ? 0 : pixels.length), 0)
    if (others + width * height > MAX_REGION_PIXELS) throw new RangeError('the regions are too large')
    const fits = before !== undefined && before.width === width && before.height === height && before.depth === depth
    const pixels = fits ? before.pixels : new Uint8Array(width * height)
    const fill = depth === 8 ? view.getUint8(8) : depth === 4 ? view.getUint8(9) >> 4 : (view.getUint8(9) >> 2) & 3
    if (isFilled || !fits) pixels.fill(isFilled ? fill : 0)
    const objects: Region['objects'] = []
    for (let at = 10; at + 6 <= body.length;) {
      const place = { id: view.getUint16(at), x: view.getUint16(at + 2) & 0xfff, y: view.getUint16(at + 4) & 0xfff }
      const type = view.getUint8(at + 2) >> 6
      // Characters have two colours more; bitmaps are type 0.
      at += type === 1 || type === 2 ? 8 : 6
      objects.push(place)
    }
    this.#regions.set(id, { width, height, depth, clut: view.getUint8(7), pixels, objects })
  }

  #clut(body: Uint8Array): void {
    const id = viewOf(body).getUint8(0)
    const tables = this.#cluts.get(id) ?? defaultCluts()
    this.#cluts.set(id, tables)
    for (let at = 2; at + 2 <= body.length;) {
      const [entry, flags] = [body[at]!, body[at + 1]!]
      const isFull = (flags & 1) !== 0
      const length = isFull ? 4 : 2
      if (at + 2 + length > body.length) throw new RangeError('a colour is cut off')
      const bytes = body.subarray(at + 2, at + 2 + length)
      at += 2 + length
      const color = isFull ? fullColor(bytes) : reducedColor(bytes)
      // A luma of 0 is transparent, whatever the rest says.
      const alpha = color.y === 0 ? 0 : 255 - color.transparency
      const set = (depth: PixelDepth, last: number): void => {
        if (entry <= last) setColor(tables[depth], entry, { ...color, y: color.y === 0 ? 16 : color.y, alpha }, 'bt601')
      }
      if ((flags & 0x80) !== 0) set(2, 3)
      if ((flags & 0x40) !== 0) set(4, 15)
      if ((flags & 0x20) !== 0) set(8, 255)
    }
  }

  #object(body: Uint8Array): void {
    const view = viewOf(body)
    const id = view.getUint16(0)
    const [coding, keeps] = [(view.getUint8(2) >> 2) & 3, (view.getUint8(2) & 2) !== 0]
    // Text in a character set that only the receiver would know.
    if (coding !== 0) return
    const [top, bottom] = [view.getUint16(3), view.getUint16(5)]
    const fields = body.subarray(7)
    if (top + bottom > fields.length) throw new RangeError('an object is cut off')
    const upper = fields.subarray(0, top)
    let drawn = 0
    for (const region of this.#regions.values())
      for (const place of region.objects) {
        if (place.id !== id) continue
        drawn += 1
        if (drawn > MAX_OBJECT_PLACES) throw new RangeError('an object is in too many places')
        const draw = drawInto(region, place, keeps)
        const into = { depth: region.depth, width: region.width - place.x }
        drawField(upper, { ...into, first: 0 }, draw)
        // Without data of its own, the second field repeats the first one.
        drawField(bottom === 0 ? upper : fields.subarray(top, top + bottom), { ...into, first: 1 }, draw)
      }
  }

  #shown(page: Page): DisplaySet {
    const images = page.regions.flatMap(({ id, x, y }): SubtitleImage[] => {
      const region = this.#regions.get(id)
      if (region === undefined) return []
      const palette = (this.#cluts.get(region.clut) ?? defaultCluts())[region.depth]
      // Copies: later packets draw into the same region.
      const { width, height } = region
      return [
        {
          x: x + this.#window.x,
          y: y + this.#window.y,
          width,
          height,
          pixels: region.pixels.slice(),
          palette: palette.slice(),
        },
      ]
    })
    return { canvas: this.#canvas, images, timeoutSeconds: page.timeoutSeconds }
  }
}

const DEPTHS: Partial<Record<number, PixelDepth>> = { 1: 2, 2: 4, 3: 8 }
/** A pixel of this value does not change what is below, in objects that say so (non_modifying_colour_flag). */
const NON_MODIFYING = 1

function drawInto({ width, height, pixels }: Region, place: { x: number; y: number }, keeps: boolean) {
  return (line: number, column: number, length: number, color: number): void => {
    const [y, x] = [place.y + line, place.x + column]
    if (y >= height || x >= width || (keeps && color === NON_MODIFYING)) return
    pixels.fill(color, y * width + x, y * width + Math.min(width, x + length))
  }
}

interface ClutColor {
  y: number
  cr: number
  cb: number
  transparency: number
}

function fullColor(bytes: Uint8Array): ClutColor {
  return { y: bytes[0]!, cr: bytes[1]!, cb: bytes[2]!, transparency: bytes[3]! }
}

/** Y of 6 bits, Cr and Cb of 4, T of 2. */
function reducedColor(bytes: Uint8Array): ClutColor {
  const word = (bytes[0]! << 8) | bytes[1]!
  return {
    y: (word >> 10) << 2,
    cr: ((word >> 6) & 15) << 4,
    cb: ((word >> 2) & 15) << 4,
    transparency: (word & 3) * 85,
  }
}

/** The colours before a stream defines any (10.1 to 10.3). */
function defaultCluts(): Record<PixelDepth, Uint8Array> {
  const [two, four, eight] = [PALETTE_BYTES, PALETTE_BYTES, PALETTE_BYTES].map((bytes) => new Uint8Array(bytes))
  two!.set([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 127, 127, 127, 255])
  const bit = (index: number, mask: number, level: number): number => ((index & mask) === 0 ? 0 : level)
  for (let index = 1; index < 16; index++) {
    const level = index < 8 ? 255 : 127
    four!.set([bit(index, 1, level), bit(index, 2, level), bit(index, 4, level), 255], index * 4)
  }
  for (let index = 1; index < 256; index++) eight!.set(defaultOfEight(index, bit), index * 4)
  return { 2: two!, 4: four!, 8: eight! }
}

function defaultOfEight(index: number, bit: (index: number, mask: number, level: number) => number): number[] {
  if (index < 8) return [bit(index, 1, 255), bit(index, 2, 255), bit(index, 4, 255), 63]
  const channels = (low: number, high: number, base: number): number[] =>
    [0, 1, 2].map((channel) => base + bit(index, 1 << channel, low) + bit(index, 16 << channel, high))
  switch (index & 0x88) {
    case 0x00:
      return [...channels(85, 170, 0), 255]
    case 0x08:
      return [...channels(85, 170, 0), 127]
    case 0x80:
      return [...channels(43, 85, 127), 255]
    default:
      return [...channels(43, 85, 0), 255]
  }
}

/** Reads past the end throw RangeError. */
function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
