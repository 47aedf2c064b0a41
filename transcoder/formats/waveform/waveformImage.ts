// In charge of: drawing a waveform: which pixels of an image it covers.
// Not in charge of: the image file (transcoder/extracts/png.ts).

export interface WaveformImage {
  width: number
  height: number
  channels: number
  /** Pixels of the peaks that are drawn. */
  length: number
}

/** Takes all peaks in order, and draws each channel in its own band. */
export class WaveformCanvas {
  readonly #image: WaveformImage
  readonly #low: Int16Array
  readonly #high: Int16Array
  #position = 0

  constructor(image: WaveformImage) {
    this.#image = image
    const columns = image.width * image.channels
    this.#low = new Int16Array(columns).fill(32_767)
    this.#high = new Int16Array(columns).fill(-32_768)
  }

  /** Whole pixels, as PeakCounter returns them. */
  push(values: Int16Array): void {
    const { width, channels, length } = this.#image
    for (let at = 0; at < values.length; at += 2 * channels) {
      const first = Math.floor((this.#position * width) / length)
      const next = Math.ceil(((this.#position + 1) * width) / length)
      for (let column = first; column < Math.max(next, first + 1) && column < width; column++)
        for (let channel = 0; channel < channels; channel++) {
          const index = channel * width + column
          this.#low[index] = Math.min(this.#low[index]!, values[at + 2 * channel]!)
          this.#high[index] = Math.max(this.#high[index]!, values[at + 2 * channel + 1]!)
        }
      this.#position += 1
    }
  }

  /** Rows from the top, 8 pixels in each byte, the leftmost in the highest bit; 1 = waveform. */
  rows(): Uint8Array[] {
    const { width, height, channels } = this.#image
    const rows = Array.from({ length: height }, () => new Uint8Array(Math.ceil(width / 8)))
    const band = Math.floor(height / channels)
    if (band === 0) return rows
    const lineOf = (sample: number) => Math.min(band - 1, Math.floor(((32_767 - sample) * band) / 65_536))
    for (let channel = 0; channel < channels; channel++)
      for (let column = 0; column < width; column++) {
        const index = channel * width + column
        if (this.#low[index]! > this.#high[index]!) continue
        for (let line = lineOf(this.#high[index]!); line <= lineOf(this.#low[index]!); line++)
          rows[channel * band + line]![column >> 3]! |= 0x80 >> (column & 7)
      }
    return rows
  }
}
