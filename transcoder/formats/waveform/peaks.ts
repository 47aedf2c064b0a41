// In charge of: the peaks of audio: the lowest and the highest sample of each pixel, as audiowaveform computes them.
// Not in charge of: the file formats (peakFiles.ts), images (waveformImage.ts).

export interface PeakSettings {
  /** Channels of the samples that are pushed. */
  sourceChannels: number
  /** 1 = the mean of all channels; otherwise as many as the source has. */
  channels: number
  samplesPerPixel: number
}

/** Takes 16-bit samples with interleaved channels, in blocks of any length. */
export class PeakCounter {
  readonly #settings: PeakSettings
  readonly #low: Int16Array
  readonly #high: Int16Array
  #rest: Uint8Array = new Uint8Array(0)
  #samples = 0
  #pixels = 0

  constructor(settings: PeakSettings) {
    this.#settings = settings
    this.#low = new Int16Array(settings.channels)
    this.#high = new Int16Array(settings.channels)
    this.#reset()
  }

  /** Finished pixels so far. */
  get pixels(): number {
    return this.#pixels
  }

  /** Returns the pixels that are now complete: for each, the lowest and the highest value of each channel in turn. */
  push(block: Uint8Array): Int16Array {
    const { sourceChannels, channels, samplesPerPixel } = this.#settings
    const frameBytes = sourceChannels * 2
    const bytes = this.#rest.length === 0 ? block : joined(this.#rest, block)
    const frames = Math.floor(bytes.length / frameBytes)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const made = new Int16Array(2 * channels * (Math.ceil(frames / samplesPerPixel) + 1))
    let filled = 0
    for (let frame = 0; frame < frames; frame++) {
      const at = frame * frameBytes
      if (channels === 1) {
        let sum = 0
        for (let channel = 0; channel < sourceChannels; channel++) sum += view.getInt16(at + 2 * channel, true)
        this.#take(0, Math.trunc(sum / sourceChannels))
      } else
        for (let channel = 0; channel < channels; channel++) this.#take(channel, view.getInt16(at + 2 * channel, true))
      this.#samples += 1
      if (this.#samples === samplesPerPixel) filled = this.#flush(made, filled)
    }
    this.#rest = bytes.slice(frames * frameBytes)
    return made.subarray(0, filled)
  }

  /** The last pixel, if it has fewer samples than the others. */
  end(): Int16Array {
    const made = new Int16Array(2 * this.#settings.channels)
    return made.subarray(0, this.#samples === 0 ? 0 : this.#flush(made, 0))
  }

  #take(channel: number, sample: number): void {
    if (sample < this.#low[channel]!) this.#low[channel] = sample
    if (sample > this.#high[channel]!) this.#high[channel] = sample
  }

  #flush(made: Int16Array, filled: number): number {
    let at = filled
    for (let channel = 0; channel < this.#settings.channels; channel++) {
      made[at] = this.#low[channel]!
      made[at + 1] = this.#high[channel]!
      at += 2
    }
    this.#pixels += 1
    this.#reset()
    return at
  }

  #reset(): void {
    this.#samples = 0
    this.#low.fill(32_767)
    this.#high.fill(-32_768)
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
