// In charge of: putting the raw frames and samples of pieces one after the other, exact to the frame and to the sample:
// audio is as long as video in every piece, and fades at the joins.
// Not in charge of: decoding the pieces (joinFeed.ts).
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { TaskError } from '#contract/taskError.ts'
import type { Rational } from '../../formats/rational.ts'

const SAMPLE_RATE = 48_000
const SAMPLE_BYTES = 4
/** 5 ms: a join makes no click. */
const FADE_SAMPLES = 240
/** Interleaving in files, and the delay of transport streams: video may come this much before its audio. */
const VIDEO_AHEAD_SECONDS = 3
const LEAST_VIDEO_BYTES = 64 * 1024 * 1024
const MOST_VIDEO_BYTES = 768 * 1024 * 1024
/** Audio of a piece whose video begins late. */
const MOST_AUDIO_BYTES = 512 * 1024 * 1024
/** Silence in place of audio that does not come. */
const LATE_SAMPLES = SAMPLE_RATE / 2
/** Written at once. */
const BLOCK_SAMPLES = 4800
/** The encoder reads audio in packets of up to so many samples, and goes on only with a whole one (ffmpeg 7; 1024 before). */
const PACKET_SAMPLES = 4096
/** Of a block that is being written, an unknown part has arrived. */
const BLOCK_BYTES = 64 * 1024

export interface RawFormat {
  /** null = no video. */
  video: { rate: Rational; frameBytes: number } | null
  /** Channels of each audio stream. */
  audio: readonly number[]
}

/** What a piece contributes. */
export interface RawPiece {
  /** Canvas frames, or samples where there is no video; null = as many as arrive. */
  length: number | null
  /** More than `length` is dropped. */
  isFixed: boolean
  /** Audio streams that the piece has. */
  hasAudio: readonly boolean[]
  isFirst: boolean
  isLast: boolean
}

/** What arrived of a piece, in frames, or in samples where there is no video, before anything was added. */
export interface RawResult {
  arrived: number
  used: number
}

interface Track {
  readonly pipe: Writable
  readonly blockBytes: number
  /** Samples of the current piece that wait to be written. */
  queue: Buffer[]
  queuedBytes: number
  /** Samples of the current piece that were written. */
  written: number
  /** Samples that arrive from now on and have been replaced by silence already. */
  late: number
  hasSource: boolean
  hasEnded: boolean
}

/** The whole of what is joined. One piece at a time: `begin`, readers of its pipes, `finish`. */
export class RawJoin {
  readonly #format: RawFormat
  readonly #video: Writable | null
  readonly #tracks: readonly Track[]
  readonly #signal: AbortSignal
  #piece: RawPiece = { length: null, isFixed: false, hasAudio: [], isFirst: true, isLast: true }
  /** Frames of the pieces before the current one; samples where there is no video. */
  #before = 0
  #samplesBefore = 0
  #videoBytes = 0
  /** The last frame, or what has arrived of it. */
  #lastFrame: Buffer[] = []
  readonly #waiting = new Set<() => void>()
  #isWaiting = 0

  constructor(format: RawFormat, pipes: readonly Writable[], signal: AbortSignal) {
    this.#format = format
    this.#video = format.video === null ? null : pipes[0]!
    const offset = format.video === null ? 0 : 1
    this.#tracks = format.audio.map((channels, index) => ({
      pipe: pipes[index + offset]!,
      blockBytes: channels * SAMPLE_BYTES,
      queue: [],
      queuedBytes: 0,
      written: 0,
      late: 0,
      hasSource: false,
      hasEnded: false,
    }))
    this.#signal = signal
    const wake = () => this.#wake()
    for (const pipe of pipes) pipe.on('error', wake)
    signal.addEventListener('abort', wake, { once: true })
  }

  /** True while the piece has to wait for the encoder. */
  get isBlocked(): boolean {
    return this.#isWaiting > 0
  }

  /** True while the encoder has nothing to read. */
  get isStarving(): boolean {
    return [this.#video, ...this.#tracks.map(({ pipe }) => pipe)].some(
      (pipe) => pipe !== null && pipe.writableLength === 0,
    )
  }

  /** Seconds of the pieces that are finished. */
  get seconds(): number {
    const rate = this.#format.video?.rate ?? { num: SAMPLE_RATE, den: 1 }
    return (this.#before * rate.den) / rate.num
  }

  begin(piece: RawPiece): void {
    this.#piece = piece
    this.#videoBytes = 0
    this.#lastFrame = []
    for (const [index, track] of this.#tracks.entries())
      Object.assign(track, {
        queue: [],
        queuedBytes: 0,
        written: 0,
        late: 0,
        hasSource: piece.hasAudio[index] === true,
        hasEnded: false,
      })
  }

  async readVideo(stream: Readable): Promise<void> {
    const { frameBytes } = this.#format.video!
    const { length, isFixed } = this.#piece
    const most = isFixed && length !== null ? length * frameBytes : Number.POSITIVE_INFINITY
    for await (const block of stream) {
      const bytes = block as Buffer
      const used = bytes.subarray(0, Math.max(0, most - this.#videoBytes))
      if (used.length === 0) continue
      this.#keepLastFrame(used)
      this.#write(this.#video!, used)
      this.#videoBytes += used.length
      this.#pumpAudio()
      await this.#waitWhile(() => this.#isVideoFull())
    }
  }

  async readAudio(stream: Readable, index: number): Promise<void> {
    const track = this.#tracks[index]!
    let rest = Buffer.alloc(0)
    for await (const block of stream) {
      const whole = rest.length === 0 ? (block as Buffer) : Buffer.concat([rest, block as Buffer])
      const usable = whole.length - (whole.length % track.blockBytes)
      rest = Buffer.from(whole.subarray(usable))
      const skipped = Math.min(track.late * track.blockBytes, usable)
      track.late -= skipped / track.blockBytes
      if (usable > skipped) {
        track.queue.push(whole.subarray(skipped, usable))
        track.queuedBytes += usable - skipped
      }
      this.#pumpAudio()
      if (track.queuedBytes > MOST_AUDIO_BYTES)
        throw new TaskError('source_damaged', 'Its video begins too long after its audio.')
      await this.#waitWhile(() => this.#isAudioFull(track))
    }
    track.hasEnded = true
    this.#pumpAudio()
    this.#wake()
  }

  /** After the piece's process has ended. `pad`: the last frame is repeated for up to this many missing frames. */
  async finish(pad: number): Promise<RawResult> {
    const { video } = this.#format
    const { length } = this.#piece
    const arrived = video === null ? this.#arrivedSamples() : Math.floor(this.#videoBytes / video.frameBytes)
    // A frame that was cut off with the process is no frame: the caller has an error to report.
    const isCutOff = video !== null && (arrived === 0 || this.#videoBytes % video.frameBytes !== 0)
    if (isCutOff) return { arrived: 0, used: 0 }
    const isShort = length !== null && arrived < length && length - arrived <= pad
    const isLong = video === null && this.#piece.isFixed && length !== null && arrived > length
    const used = isShort || isLong ? length : arrived
    if (video !== null) {
      const last = Buffer.concat(this.#lastFrame)
      for (let frame = arrived; frame < used; frame += 1) {
        this.#write(this.#video!, last)
        await this.#waitWhile(() => this.#isVideoFull())
      }
      this.#videoBytes = used * video.frameBytes
    }
    const samples = this.#sampleAt(this.#before + used) - this.#samplesBefore
    for (const track of this.#tracks) this.#endTrack(track, samples)
    this.#before += used
    this.#samplesBefore += samples
    return { arrived, used }
  }

  /** Samples that arrived of a piece without video. If all its streams are silence: its planned length. */
  #arrivedSamples(): number {
    const sources = this.#tracks.filter(({ hasSource }) => hasSource)
    if (sources.length === 0) return this.#piece.length ?? 0
    return Math.max(...sources.map((track) => track.written + track.queuedBytes / track.blockBytes))
  }

  /** All that was written is still to be read. */
  async end(): Promise<void> {
    const pipes = [this.#video, ...this.#tracks.map(({ pipe }) => pipe)].filter((pipe) => pipe !== null)
    for (const pipe of pipes) pipe.end()
    await Promise.all(
      pipes.map(async (pipe) => {
        if (!pipe.writableFinished && !pipe.destroyed) await once(pipe, 'finish', { signal: this.#signal })
      }),
    )
  }

  /** Position of a frame on the grid of samples, from the beginning of the first piece: rounding never adds up. */
  #sampleAt(frames: number): number {
    const { video } = this.#format
    return video === null ? frames : Math.round((frames * SAMPLE_RATE * video.rate.den) / video.rate.num)
  }

  #write(pipe: Writable, bytes: Buffer): void {
    this.#signal.throwIfAborted()
    if (pipe.errored !== null) throw pipe.errored
    pipe.write(bytes, () => this.#wake())
  }

  #keepLastFrame(bytes: Buffer): void {
    const { frameBytes } = this.#format.video!
    let rest = bytes
    let filled = this.#videoBytes % frameBytes
    while (rest.length > 0) {
      if (filled === 0) this.#lastFrame = []
      const part = rest.subarray(0, frameBytes - filled)
      this.#lastFrame.push(part)
      filled = (filled + part.length) % frameBytes
      rest = rest.subarray(part.length)
    }
  }

  /** Audio never overtakes video, and the samples that may be the last ones wait for their fade. */
  #pumpAudio(): void {
    const { video } = this.#format
    const arrived = (track: Track) => track.written + track.queuedBytes / track.blockBytes
    const reached =
      video === null
        ? Math.max(0, ...this.#tracks.filter(({ hasSource }) => hasSource).map(arrived))
        : this.#samplesOf(this.#videoBytes)
    const fixed = video === null && this.#piece.isFixed ? (this.#piece.length ?? reached) : reached
    const allowed = Math.min(reached, fixed) - FADE_SAMPLES
    for (const track of this.#tracks) {
      if (!track.hasSource) this.#writeSilence(track, allowed - track.written)
      else {
        this.#writeQueued(track, Math.min(allowed - track.written, track.queuedBytes / track.blockBytes))
        // Nothing of this stream comes any more.
        if (track.hasEnded && track.queuedBytes === 0) this.#writeSilence(track, allowed - track.written)
      }
    }
  }

  #writeQueued(track: Track, samples: number): void {
    if (samples <= 0) return
    const bytes = this.#take(track, samples)
    if (!this.#piece.isFirst) fade(bytes, track.blockBytes, { from: track.written, rising: true })
    this.#write(track.pipe, bytes)
    track.written += samples
  }

  #writeSilence(track: Track, samples: number): void {
    for (let rest = samples; rest > 0; rest -= BLOCK_SAMPLES) {
      const count = Math.min(rest, BLOCK_SAMPLES)
      this.#write(track.pipe, Buffer.alloc(count * track.blockBytes))
      track.written += count
    }
  }

  #take(track: Track, samples: number): Buffer {
    const wanted = samples * track.blockBytes
    const parts: Buffer[] = []
    let bytes = 0
    while (bytes < wanted) {
      const [next] = track.queue
      if (next === undefined) break
      const part = next.subarray(0, wanted - bytes)
      parts.push(part)
      bytes += part.length
      if (part.length === next.length) track.queue.shift()
      else track.queue[0] = next.subarray(part.length)
    }
    track.queuedBytes -= bytes
    // A copy: fades change it.
    return Buffer.concat(parts)
  }

  /** What is missing is silence, what is too much is dropped. */
  #endTrack(track: Track, samples: number): void {
    const rest = samples - track.written
    const queued = Math.min(rest, track.queuedBytes / track.blockBytes)
    this.#writeQueuedEnd(track, queued, samples)
    this.#writeSilence(track, samples - track.written)
    track.queue = []
    track.queuedBytes = 0
  }

  #writeQueuedEnd(track: Track, samples: number, end: number): void {
    if (samples <= 0) return
    const bytes = this.#take(track, samples)
    if (!this.#piece.isFirst) fade(bytes, track.blockBytes, { from: track.written, rising: true })
    if (!this.#piece.isLast) fade(bytes, track.blockBytes, { from: track.written - end, rising: false })
    this.#write(track.pipe, bytes)
    track.written += samples
  }

  /**
   * The encoder takes video and audio in turn. While it waits for audio, more of the piece is read, up to a limit: then
   * the piece has no audio here.
   */
  #isVideoFull(): boolean {
    const { rate, frameBytes } = this.#format.video!
    const pending = this.#video!.writableLength
    if (pending < frameBytes) return false
    const needed = this.#samplesNeeded()
    const starving = this.#starving(needed)
    if (starving.length === 0) return true
    const ahead = (VIDEO_AHEAD_SECONDS * rate.num * frameBytes) / rate.den
    if (pending < Math.min(MOST_VIDEO_BYTES, Math.max(LEAST_VIDEO_BYTES, ahead))) return false
    // A little more than it has video for: it may need some to go on.
    const filled = Math.min(needed + LATE_SAMPLES, this.#samplesOf(this.#videoBytes) - FADE_SAMPLES)
    for (const track of starving) {
      const missing = Math.max(0, filled - track.written)
      track.late += missing
      this.#writeSilence(track, missing)
    }
    return true
  }

  /** With the audio of the frame that is being written, and what completes its packet, the encoder can go on. */
  #samplesNeeded(): number {
    const handed = this.#videoBytes - this.#video!.writableLength + this.#format.video!.frameBytes + BLOCK_BYTES
    return this.#samplesOf(handed) - FADE_SAMPLES + PACKET_SAMPLES
  }

  #starving(needed: number): Track[] {
    return this.#tracks.filter(({ pipe, written }) => pipe.writableLength === 0 && written < needed)
  }

  /** Samples of the piece's first bytes of video. */
  #samplesOf(videoBytes: number): number {
    const frames = Math.floor(videoBytes / this.#format.video!.frameBytes)
    return this.#sampleAt(this.#before + Math.max(0, frames)) - this.#samplesBefore
  }

  #isAudioFull(track: Track): boolean {
    if (this.#video === null)
      return track.pipe.writableNeedDrain && !this.#tracks.some(({ pipe }) => pipe.writableLength === 0)
    const isAhead = track.queuedBytes > SAMPLE_RATE * track.blockBytes && this.#video.writableLength > 0
    return isAhead && this.#starving(this.#samplesNeeded()).length === 0
  }

  async #waitWhile(isFull: () => boolean): Promise<void> {
    this.#isWaiting += 1
    try {
      while (isFull()) {
        this.#signal.throwIfAborted()
        const failed = [this.#video, ...this.#tracks.map(({ pipe }) => pipe)].find(
          (pipe) => pipe != null && pipe.errored !== null,
        )
        if (failed != null) throw failed.errored
        await new Promise<void>((resolve) => this.#waiting.add(resolve))
      }
    } finally {
      this.#isWaiting -= 1
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

/**
 * `from`: place of the first sample, counted from the beginning of a rising fade, or (negative) from the end of a falling
 * fade.
 */
function fade(bytes: Buffer, blockBytes: number, { from, rising }: { from: number; rising: boolean }): void {
  const samples = bytes.length / blockBytes
  for (let index = 0; index < samples; index += 1) {
    const place = from + index
    const gain = rising ? (place + 0.5) / FADE_SAMPLES : (-place - 0.5) / FADE_SAMPLES
    if (gain >= 1) {
      if (rising) return
      continue
    }
    for (let at = index * blockBytes; at < (index + 1) * blockBytes; at += SAMPLE_BYTES)
      bytes.writeFloatLE(bytes.readFloatLE(at) * Math.max(0, gain), at)
  }
}
