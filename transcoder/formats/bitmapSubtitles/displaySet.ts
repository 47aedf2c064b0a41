// In charge of: what a bitmap subtitle stream shows from one moment on, whatever its format.
// Not in charge of: decoding it (dvbDecoder.ts, pgsDecoder.ts), when it ends (subtitleTimeline.ts).

/** Pixels of the largest canvas that is drawn: 4096 × 2304. */
export const MAX_CANVAS_PIXELS = 4096 * 2304

export interface CanvasSize {
  width: number
  height: number
}

/** A rectangle of the canvas; a part of it may lie outside. */
export interface SubtitleImage {
  x: number
  y: number
  width: number
  height: number
  /** One index of `palette` per pixel. */
  pixels: Uint8Array
  /** R, G, B, A of 256 colours; the alpha is not multiplied into the others. */
  palette: Uint8Array
}

export interface DisplaySet {
  canvas: CanvasSize
  /** Empty = the screen is cleared. */
  images: SubtitleImage[]
  /** After this time the screen is cleared, unless another set has arrived; null = only another set clears it. */
  timeoutSeconds: number | null
}

/** Decodes the packets of one stream in their order. */
export interface SubtitleDecoder {
  /** The sets that a packet completes; each replaces all that is shown. Never throws: what is damaged is skipped. */
  decode(packet: Uint8Array): DisplaySet[]
  /** Packets that contain bytes that cannot be read. */
  readonly damaged: number
}

export const PALETTE_BYTES = 256 * 4

const MATRICES = {
  bt601: { rv: 1.596, gu: 0.391, gv: 0.813, bu: 2.018 },
  bt709: { rv: 1.793, gu: 0.213, gv: 0.533, bu: 2.112 },
} as const

/** Writes one colour of limited range into a palette. */
export function setColor(
  palette: Uint8Array,
  index: number,
  color: { y: number; cb: number; cr: number; alpha: number },
  matrix: keyof typeof MATRICES,
): void {
  const { rv, gu, gv, bu } = MATRICES[matrix]
  const luma = 1.164 * (color.y - 16)
  const [u, v] = [color.cb - 128, color.cr - 128]
  const clamp = (value: number): number => Math.min(255, Math.max(0, Math.round(value)))
  palette[index * 4] = clamp(luma + rv * v)
  palette[index * 4 + 1] = clamp(luma - gu * u - gv * v)
  palette[index * 4 + 2] = clamp(luma + bu * u)
  palette[index * 4 + 3] = color.alpha
}
