// In charge of: the waveform of one audio stream: its peaks while samples arrive, in a file of the workspace, and the
// output made of them. Memory does not grow with the length.
// Not in charge of: computing peaks and their formats (formats/waveform), storing the output (extractor.ts).
import { open, rm, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { MAX_WAVEFORM_PIXELS } from '#contract/limits.ts'
import { TaskError } from '#contract/taskError.ts'
import { datHeader, datValues, jsonFrame, jsonValues, type PeakFile } from '../formats/waveform/peakFiles.ts'
import { PeakCounter } from '../formats/waveform/peaks.ts'
import { WaveformCanvas } from '../formats/waveform/waveformImage.ts'
import type { WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import { twoColorPng } from './png.ts'

/** Bytes that are read and written at once. */
const BLOCK = 1024 * 1024

export class WaveformFile {
  readonly #plan: WaveformPlan
  readonly #peaks: string
  #pixels = 0

  /** `peaks`: a file that does not exist yet. */
  constructor(plan: WaveformPlan, peaks: string) {
    this.#plan = plan
    this.#peaks = peaks
  }

  /** Reads all samples. */
  async read(samples: Readable): Promise<void> {
    const { channels } = this.#plan
    const counter = new PeakCounter(this.#plan)
    const file = await open(this.#peaks, 'w')
    try {
      const blocks = new BlockWriter(file)
      for await (const block of samples) {
        await blocks.write(bytesOf(counter.push(block as Buffer)))
        if (counter.pixels * channels > MAX_WAVEFORM_PIXELS)
          throw new TaskError(
            'output_too_large',
            `The waveform has more than ${MAX_WAVEFORM_PIXELS} pixels; use a larger samples_per_pixel.`,
            { field: 'waveform' },
          )
      }
      await blocks.write(bytesOf(counter.end()))
      await blocks.flush()
    } finally {
      await file.close()
    }
    this.#pixels = counter.pixels
  }

  /** Writes the output to `path`. Throws output_incomplete if the stream had no samples. */
  async finish(path: string): Promise<void> {
    const { format, width, height, channels, bits, sampleRate, samplesPerPixel, sourceStream } = this.#plan
    if (this.#pixels === 0)
      throw new TaskError(
        'output_incomplete',
        `Audio stream ${sourceStream} of the source has no samples for a waveform.`,
      )
    const head: PeakFile = { sampleRate, samplesPerPixel, bits, channels, length: this.#pixels }
    const file = await open(path, 'w')
    try {
      const blocks = new BlockWriter(file)
      if (format === 'png') {
        const canvas = new WaveformCanvas({ width, height, channels, length: this.#pixels })
        for await (const values of this.#values()) canvas.push(values)
        await blocks.write(twoColorPng(width, canvas.rows(), [this.#plan.backgroundColor, this.#plan.waveformColor]))
      } else if (format === 'dat') {
        await blocks.write(datHeader(head))
        for await (const values of this.#values()) await blocks.write(datValues(values, bits))
      } else {
        const [before, after] = jsonFrame(head)
        await blocks.write(Buffer.from(before))
        let separator = ''
        for await (const values of this.#values()) {
          await blocks.write(Buffer.from(separator + jsonValues(values, bits)))
          separator = ','
        }
        await blocks.write(Buffer.from(after))
      }
      await blocks.flush()
    } finally {
      await file.close()
    }
    await rm(this.#peaks, { force: true })
  }

  /** Whole pixels at a time. */
  async *#values(): AsyncGenerator<Int16Array> {
    const pixelBytes = 4 * this.#plan.channels
    const length = Math.max(1, Math.floor(BLOCK / pixelBytes)) * pixelBytes
    const file = await open(this.#peaks)
    try {
      for (;;) {
        const buffer = new Uint8Array(length)
        const { bytesRead } = await file.read(buffer, 0, length)
        if (bytesRead === 0) return
        yield new Int16Array(buffer.buffer, 0, bytesRead / 2)
      }
    } finally {
      await file.close()
    }
  }
}

class BlockWriter {
  readonly #file: FileHandle
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= BLOCK) await this.flush()
  }

  async flush(): Promise<void> {
    const parts = this.#parts.splice(0)
    this.#bytes = 0
    await this.#file.appendFile(Buffer.concat(parts))
  }
}

/** In the byte order of this machine: the file is read by the same process. */
function bytesOf(values: Int16Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
