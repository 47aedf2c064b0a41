// In charge of: the rectangle of the canvas that all images of a track fit into, and drawing images into it as RGBA.
// Not in charge of: where it lies in an output (plan/video/bitmapPlacement.ts).
import type { CanvasSize, SubtitleImage } from './displaySet.ts'

export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** The canvas of a track, and the part of it that is drawn into. */
export interface DrawnArea {
  canvas: CanvasSize
  area: Rectangle
}

/** Scalers look at neighbouring pixels: around the images is a transparent border. */
const BORDER = 4

/** Collects the visible pixels of a track. The canvas may change in it: the largest one counts. */
export class AreaFinder {
  readonly #found = new Map<string, { canvas: CanvasSize; left: number; top: number; right: number; bottom: number }>()

  add(canvas: CanvasSize, image: SubtitleImage): void {
    const bounds = visibleBounds(image)
    if (bounds === null) return
    const key = `${canvas.width}x${canvas.height}`
    const known = this.#found.get(key)
    this.#found.set(key, {
      canvas,
      left: Math.min(known?.left ?? Infinity, bounds.x),
      top: Math.min(known?.top ?? Infinity, bounds.y),
      right: Math.max(known?.right ?? 0, bounds.x + bounds.width),
      bottom: Math.max(known?.bottom ?? 0, bounds.y + bounds.height),
    })
  }

  /** null = nothing is visible. */
  result(): DrawnArea | null {
    const all = [...this.#found.values()]
    const canvas = all
      .map((each) => each.canvas)
      .toSorted((one, other) => other.width * other.height - one.width * one.height)[0]
    if (canvas === undefined) return null
    const across = (edge: (each: (typeof all)[number]) => number): number[] =>
      all.map((each) => (edge(each) * canvas.width) / each.canvas.width)
    const down = (edge: (each: (typeof all)[number]) => number): number[] =>
      all.map((each) => (edge(each) * canvas.height) / each.canvas.height)
    const x = Math.max(0, Math.floor(Math.min(...across(({ left }) => left))) - BORDER)
    const y = Math.max(0, Math.floor(Math.min(...down(({ top }) => top))) - BORDER)
    const right = Math.min(canvas.width, Math.ceil(Math.max(...across((each) => each.right))) + BORDER)
    const bottom = Math.min(canvas.height, Math.ceil(Math.max(...down((each) => each.bottom))) + BORDER)
    if (right <= x || bottom <= y) return null
    return { canvas, area: { x, y, width: right - x, height: bottom - y } }
  }
}

function visibleBounds(image: SubtitleImage): Rectangle | null {
  const { width, height, pixels, palette } = image
  let [left, top, right, bottom] = [width, height, 0, 0]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (palette[pixels[y * width + x]! * 4 + 3] === 0) continue
      left = Math.min(left, x)
      right = Math.max(right, x + 1)
      top = Math.min(top, y)
      bottom = y + 1
    }
  return right === 0 ? null : { x: image.x + left, y: image.y + top, width: right - left, height: bottom - top }
}

/** The area as R, G, B, A of each pixel. Images of another canvas are stretched to the canvas of the area. */
export function drawImages(
  { canvas, area }: DrawnArea,
  own: CanvasSize,
  images: readonly SubtitleImage[],
): Uint8Array<ArrayBuffer> {
  const drawn = new Uint8Array(area.width * area.height * 4)
  const [across, down] = [canvas.width / own.width, canvas.height / own.height]
  for (const image of images) {
    const { pixels, palette, width, height } = image
    const [left, top] = [Math.round(image.x * across) - area.x, Math.round(image.y * down) - area.y]
    const [right, bottom] = [left + Math.round(width * across), top + Math.round(height * down)]
    for (let y = Math.max(0, top); y < Math.min(area.height, bottom); y++) {
      const line = Math.min(height - 1, Math.floor((y - top) / down)) * width
      for (let x = Math.max(0, left); x < Math.min(area.width, right); x++) {
        const color = pixels[line + Math.min(width - 1, Math.floor((x - left) / across))]! * 4
        if (palette[color + 3] === 0) continue
        drawn.set(palette.subarray(color, color + 4), (y * area.width + x) * 4)
      }
    }
  }
  return drawn
}
