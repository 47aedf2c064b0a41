// In charge of: the damage of a source that appears while it is decoded: how much, of which kind, and where; and
// aborting a task whose source has more errors than the job allows.
// Not in charge of: parsing ffmpeg's lines (ffmpegMessages.ts), the texts of warnings and errors (damageReport.ts).
import type { TaskError } from '#contract/taskError.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { audioEncodings, videoEncodings } from '../../plan/codecs.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../../plan/model/mediaInfo.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { toNumber } from '../../formats/rational.ts'
import { cutEnd, EDGE_SECONDS, withoutCutEnd, type End, type Event } from './cutEnd.ts'
import type { LastPacket } from './streamEnding.ts'
import {
  isDecodingStart,
  isEncodingStart,
  filteredStream,
  isDiagnostic,
  readDamage,
  readFormat,
  readFrameSize,
  readLimitedRange,
  type AudioFormat,
  type FrameSize,
  type Damage,
  type LogContext,
} from './ffmpegMessages.ts'
import {
  tooManyErrors,
  totalEvents,
  undecodableVideo,
  type EventCount,
  type DamageSummary,
  type FormatChange,
  type SizeChange,
  type Gap,
} from './damageReport.ts'

/** What is decoded, and which encoders run in the same process. */
export type DecodedPlan = Pick<Plan, 'outputs' | 'packaging' | 'audioFiles' | 'sourceAudio'> &
  Partial<Pick<Plan, 'range'>>

export interface DamageMonitorOptions {
  media: MediaInfo
  plan: DecodedPlan
  /** The time in the source at which the outputs begin. */
  startSeconds: number
  /**
   * Seconds of the outputs before the range that is encoded. Frames decoded before its first frame lack the frames to which
   * they refer. Their real errors are counted by the run before.
   */
  secondsBefore?: number
  /** The place of the outputs' beginning on ffmpeg's clock. */
  clockSeconds?: number
  /** Another run reads all of the source, and reports what is wrong with its container. */
  ignoresContainer?: boolean
  /** Indexes of streams that begin within a frame or a group of pictures (streamBeginning.ts). */
  begunWithin?: ReadonlySet<number>
  /** Number of errors with which the job still succeeds; null = any number. */
  limit: number | null
  /** Called once, as soon as the limit is exceeded. */
  onExceeded: (error: TaskError) => void
}

interface Silence {
  samples: number
  seconds: number
  isFirst: boolean
}

/** swresample adds silence in steps of this many samples at most. */
const SILENCE_STEP = 16_384
/** If two filters fill the same gap of the source, both report it at about the same time. */
const SAME_GAP = 0.1
const SAME_MOMENT_SECONDS = 5
/**
 * Formats without a header or an end mark: a recording may be truncated anywhere, and errors in its last packet are no
 * damage.
 */
const HEADERLESS_FORMATS = new Set(['mpegts', 'mpeg', 'mpegvideo', 'h264', 'hevc', 'aac', 'ac3', 'eac3', 'mp3', 'dv'])
/** Decoding is ahead of the encoders' output by their look-ahead. */
const LOOK_AHEAD_SECONDS = 3
/** ffmpeg's own limit (-max_error_rate), which version 5 applies to all streams together. */
const MAX_LOST_SHARE = 2 / 3
/** A hostile source may cause any number of events: all are counted, but only this many are stored. */
const MAX_EVENTS = 2000

export class DamageMonitor {
  readonly #options: DamageMonitorOptions
  readonly #logContext: LogContext
  readonly #sampleRate: number
  readonly #now: () => number
  #isDecoding = false
  #isFiltering = false
  #isEncoding = false
  /** Indexes of streams of which a frame was decoded. */
  readonly #decoded = new Set<number>()
  #events: Event[] = []
  /** The elements of #events since the last progress report. */
  #unplaced: { event: Event; at: number }[] = []
  #uncounted = { packet: 0, frame: 0, message: 0 }
  #gaps: (Gap & { context: string })[] = []
  readonly #formats = new Map<number, AudioFormat>()
  #formatChanges: FormatChange[] = []
  #sizes: { first: string; current: string } | null = null
  #sizeChanges: SizeChange[] = []
  #rangeChanges: number[] = []
  readonly #silences = new Map<string, Silence>()
  readonly #contexts = new Set<string>()
  readonly #seenPackets = new Map<string, Event>()
  #ending: ReadonlyMap<number, LastPacket> = new Map()
  #position = { seconds: 0, speed: 0, at: 0 }
  #hasExceeded = false

  constructor(options: DamageMonitorOptions, now = () => performance.now()) {
    const { media, plan } = options
    this.#options = options
    this.#now = now
    this.#logContext = logContextOf(media, plan)
    this.#sampleRate = tracksOf(plan)[0]?.sampleRate ?? 48_000
    this.reset()
  }

  /** An encode begins: events of an earlier one no longer count. */
  reset(): void {
    this.#isDecoding = false
    this.#isFiltering = false
    this.#isEncoding = false
    this.#decoded.clear()
    this.#events = []
    this.#unplaced = []
    this.#uncounted = { packet: 0, frame: 0, message: 0 }
    this.#gaps = []
    this.#formats.clear()
    this.#formatChanges = []
    this.#sizes = null
    this.#sizeChanges = []
    this.#rangeChanges = []
    this.#silences.clear()
    this.#contexts.clear()
    this.#seenPackets.clear()
    this.#position = { seconds: this.#secondsBefore, speed: 0, at: this.#now() }
  }

  get #clockSeconds(): number {
    return this.#options.clockSeconds ?? 0
  }

  get #secondsBefore(): number {
    return this.#options.secondsBefore ?? 0
  }

  /** Processes one line of ffmpeg. Returns whether it may explain a failure. */
  readonly onLine = (text: string): boolean => {
    if (isDecodingStart(text)) this.#isDecoding = true
    if (isEncodingStart(text)) this.#isEncoding = true
    const decoded = filteredStream(text)
    if (decoded !== null) {
      this.#isFiltering = true
      this.#decoded.add(decoded)
    }
    const damage = readDamage(text, this.#logContext, this.#isDecoding)
    if (damage !== null) this.#record(damage)
    const found = readFormat(text)
    if (found !== null) this.#onFormat(found.format, found.seconds - this.#clockSeconds)
    const size = readFrameSize(text)
    if (size !== null) this.#onSize(size)
    const limited = readLimitedRange(text)
    if (limited !== null && this.#rangeChanges.length < MAX_EVENTS)
      this.#rangeChanges.push(Math.max(0, limited - this.#clockSeconds))
    return isDiagnostic(text)
  }

  onProgress({ outSeconds, speed }: { outSeconds: number; speed: number | null }): void {
    const reached = this.#secondsBefore + outSeconds
    this.#assignTimes(reached)
    this.#position = { seconds: reached, speed: speed ?? 0, at: this.#now() }
    const { limit } = this.#options
    if (limit === null || this.#hasExceeded) return
    const end = this.#endOf(null) - EDGE_SECONDS
    const found = this.#findings(this.#events.filter(({ latestSeconds }) => latestSeconds < end))
    if (found.total <= limit) return
    this.#hasExceeded = true
    this.#options.onExceeded(tooManyErrors(found, limit))
  }

  /**
   * True if the errors may come from the truncated end of a transport stream, so that its last bytes have to be
   * checked.
   */
  get isInDoubt(): boolean {
    return this.#events.length > 0 && this.#options.media.formats.includes('mpegts')
  }

  /** The streams with a truncated end, for which only a decoder can show whether it explains an error. */
  doubtfulPids(): number[] {
    return this.#ends().flatMap((end) => {
      const explained = end.last === null ? [] : cutEnd(this.#events, end)
      return explained.length > 0 && explained.every(({ ticks }) => ticks === null) ? end.pid : []
    })
  }

  /** What is needed to distinguish damage from other lines. */
  get reading(): LogContext {
    return this.#logContext
  }

  /** Sets the last packets, by PID. */
  endsWith(ending: ReadonlyMap<number, LastPacket>): void {
    this.#ending = ending
  }

  /** The damage so far; after the end of ffmpeg, all of it. */
  summary(): DamageSummary {
    for (const context of this.#silences.keys()) this.#closeSilence(context)
    return this.#findings(this.#withoutCutEnd())
  }

  #withoutCutEnd(): readonly Event[] {
    if (!this.#options.media.formats.some((format) => HEADERLESS_FORMATS.has(format))) return this.#events
    return withoutCutEnd(this.#events, this.#ends(), this.#endOf(null))
  }

  #ends(): (End & { pid: number })[] {
    return usedStreams(this.#options.media, this.#options.plan).map(({ index, id }) => {
      const pid = id ?? -1
      return { stream: index, pid, seconds: this.#endOf(index), last: this.#ending.get(pid) ?? null }
    })
  }

  /**
   * Called after ffmpeg ended successfully. Throws too_many_source_errors, and source_damaged if most of the video is
   * lost, as ffmpeg 7 does.
   */
  requireWithinLimit(): void {
    const { limit, media } = this.#options
    const found = this.summary()
    const { video } = media
    const seconds = video?.durationSeconds ?? media.durationSeconds
    if (video !== null && video.frameRate !== null && seconds !== null) {
      const lost = this.#events.filter(({ kind, stream }) => kind === 'packet' && stream === video.index).length
      if (lost > 1 && lost > seconds * toNumber(video.frameRate) * MAX_LOST_SHARE) throw undecodableVideo(lost)
    }
    if (limit !== null && found.total > limit) throw tooManyErrors(found, limit)
  }

  #record(damage: Damage): void {
    if (damage.kind === 'silence') {
      this.#addSilence(damage)
      return
    }
    const { media, plan, startSeconds } = this.#options
    const stream = damage.kind === 'message' ? this.#decodedBy(damage.name) : damage.stream
    if (stream !== null && !usedStreams(media, plan).some(({ index }) => index === stream)) return
    if (stream === null && this.#options.ignoresContainer === true) return
    if (stream !== null && this.#isCutBeginning(stream)) return
    if (this.#events.length >= MAX_EVENTS) {
      this.#uncounted[damage.kind] += 1
      return
    }
    const ticks = damage.kind === 'packet' ? damage.ticks : null
    if (this.#isBeforeRange(ticks)) return
    const name = `${stream} ${ticks}`
    const known = this.#seenPackets.get(name)
    if (known !== undefined) {
      // The same packet was already reported while probing, which also reads the beginning and the end; now it is
      // decoded, and takes its place in the order.
      this.#events = [...this.#events.filter((event) => event !== known), known]
      return
    }
    const seconds = ticks === null ? this.#currentSeconds() : ticks / TICKS_PER_SECOND - startSeconds
    const text = damage.kind === 'message' ? damage.text : ''
    const event = { kind: damage.kind, stream, seconds: Math.max(0, seconds), ticks, text }
    if (ticks !== null) {
      const stamped = { ...event, latestSeconds: event.seconds }
      this.#seenPackets.set(name, stamped)
      this.#events.push(stamped)
    }
    // Before the first decoded frame: the beginning of the source, however fast the rest of a short source is decoded.
    else if (!this.#isFiltering) this.#events.push({ ...event, seconds: 0, latestSeconds: Number.NEGATIVE_INFINITY })
    else {
      const unplaced = { ...event, latestSeconds: Number.POSITIVE_INFINITY }
      this.#events.push(unplaced)
      this.#unplaced.push({ event: unplaced, at: this.#now() })
    }
  }

  #onFormat(format: AudioFormat, seconds: number): void {
    const before = this.#formats.get(format.stream)
    this.#formats.set(format.stream, format)
    const isSame = before?.layout === format.layout && before.sampleRate === format.sampleRate
    if (before === undefined || isSame || seconds <= 0 || this.#formatChanges.length >= MAX_EVENTS) return
    this.#formatChanges.push({ ...format, seconds })
  }

  /** Back to the first size is no change: its time is not always said. */
  #onSize({ width, height, seconds }: FrameSize): void {
    const size = `${width}x${height}`
    this.#sizes ??= { first: size, current: size }
    const isNew = seconds !== null && size !== this.#sizes.current
    if (isNew || size === this.#sizes.first) this.#sizes.current = size
    const place = (seconds ?? 0) - this.#clockSeconds
    if (isNew && place > 0 && this.#sizeChanges.length < MAX_EVENTS)
      this.#sizeChanges.push({ width, height, seconds: place })
  }

  #isBeforeRange(ticks: number | null): boolean {
    if (this.#secondsBefore === 0) return false
    if (ticks === null) return !this.#isEncoding
    return ticks / TICKS_PER_SECOND - this.#options.startSeconds < this.#secondsBefore
  }

  /**
   * True for errors before the stream's first decoded frame, if the stream begins within a frame: the rest of that
   * frame is not damage.
   */
  #isCutBeginning(stream: number): boolean {
    return this.#options.begunWithin?.has(stream) === true && !this.#decoded.has(stream)
  }

  /** null = the demuxer, or a decoder name that several streams share. */
  #decodedBy(name: string): number | null {
    const { media, plan } = this.#options
    const ofStream = usedStreams(media, plan).filter(
      ({ codec }) => codec === name || decoderNames[codec]?.includes(name),
    )
    return ofStream.length === 1 ? ofStream[0]!.index : null
  }

  /** Events since the last report occurred between that report and this one, `until`. */
  #assignTimes(until: number): void {
    const { seconds: from, at: began } = this.#position
    const passed = Math.max(1, this.#now() - began)
    const step = Math.max(0, until - from)
    for (const { event, at } of this.#unplaced) {
      event.seconds = Math.min(from + (step * (at - began)) / passed, this.#endOf(null))
      // One step more: log lines and progress reports arrive through separate pipes.
      event.latestSeconds = until + step + LOOK_AHEAD_SECONDS
    }
    this.#unplaced = []
  }

  /** The current position of the encode: the position of the last report, extrapolated with the same speed. */
  #currentSeconds(): number {
    const { seconds, speed, at } = this.#position
    return Math.min(seconds + (speed * (this.#now() - at)) / 1000, this.#endOf(null))
  }

  #addSilence({ context, samples }: Extract<Damage, { kind: 'silence' }>): void {
    const silence = this.#silences.get(context) ?? {
      samples: 0,
      seconds: this.#currentSeconds(),
      isFirst: !this.#contexts.has(context),
    }
    this.#contexts.add(context)
    silence.samples += samples
    this.#silences.set(context, silence)
    if (samples !== SILENCE_STEP) this.#closeSilence(context)
  }

  #closeSilence(context: string): void {
    const silence = this.#silences.get(context)
    this.#silences.delete(context)
    if (silence === undefined || this.#gaps.length >= MAX_EVENTS) return
    const lengthSeconds = silence.samples / this.#sampleRate
    if (silence.isFirst && this.#isBeginning(lengthSeconds)) return
    const { seconds } = silence
    // Every filter that resamples the stream reports the gap.
    const isKnown = this.#gaps.some(
      (gap) =>
        gap.context !== context &&
        Math.abs(gap.seconds - seconds) < SAME_MOMENT_SECONDS &&
        Math.abs(gap.lengthSeconds - lengthSeconds) < SAME_GAP * lengthSeconds,
    )
    if (!isKnown) this.#gaps.push({ seconds, lengthSeconds, context })
  }

  /** True for silence before audio that begins later than the outputs do, or whose first frames were cut off. */
  #isBeginning(seconds: number): boolean {
    const { media, startSeconds, begunWithin } = this.#options
    return media.audio.some(
      (stream) =>
        (begunWithin?.has(stream.index) === true && seconds < EDGE_SECONDS) ||
        Math.abs((stream.startSeconds ?? startSeconds) - startSeconds - seconds) < SAME_GAP + seconds * SAME_GAP,
    )
  }

  /** Seconds in the outputs at which a stream, or the whole source, ends; infinite if unknown. */
  #endOf(stream: number | null): number {
    const { media, startSeconds } = this.#options
    const found = usedStreams(media, this.#options.plan).find(({ index }) => index === stream)
    const begin = found?.startSeconds ?? media.startSeconds ?? 0
    const seconds = found?.durationSeconds ?? media.durationSeconds
    return seconds === null ? Number.POSITIVE_INFINITY : begin + seconds - startSeconds
  }

  #findings(events: readonly Event[]): DamageSummary {
    const counted = (kind: Event['kind']): EventCount => {
      const ofStream = events.filter((event) => event.kind === kind)
      return { count: ofStream.length + this.#uncounted[kind], seconds: ofStream.map(({ seconds }) => seconds) }
    }
    const found = {
      packets: counted('packet'),
      frames: counted('frame'),
      messages: { ...counted('message'), first: events.find(({ text }) => text !== '')?.text ?? '' },
      gaps: this.#gaps,
      formatChanges: this.#formatChanges,
      sizeChanges: this.#sizeChanges,
      rangeChanges: this.#rangeChanges,
    }
    return { ...found, total: totalEvents(found) }
  }
}

/** A run that encodes no video may decode it, but the runs that encode it report what is wrong with it. */
function usedStreams(
  media: MediaInfo,
  { sourceAudio, range }: Pick<DecodedPlan, 'sourceAudio' | 'range'>,
): (VideoStream | AudioStream)[] {
  return [
    ...(media.video === null || range === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => sourceAudio.includes(number)),
  ]
}

function tracksOf(plan: DecodedPlan): AudioPlan[] {
  return [
    ...plan.outputs.flatMap(({ audio }) => audio),
    ...(plan.packaging?.renditions ?? []).flatMap(({ audio }) => audio),
    ...plan.audioFiles.map(({ audio }) => audio),
  ]
}

/** ffmpeg's decoders are named after their codec, and so are some of its encoders. */
function logContextOf(media: MediaInfo, plan: DecodedPlan): LogContext {
  const videos = [
    ...plan.outputs.map(({ video }) => video.codec),
    ...(plan.packaging?.renditions ?? []).flatMap(({ video }) => video?.codec ?? []),
  ]
  const encoders = new Set([
    ...videos.map((codec) => videoEncodings[codec].encoder),
    ...tracksOf(plan).map(({ codec }) => audioEncodings[codec].encoder),
  ])
  const names = usedStreams(media, plan).flatMap(({ codec }) => [codec, ...(decoderNames[codec] ?? [])])
  return {
    format: media.formats.join(','),
    decoders: new Set(names.filter((name) => ![...encoders].some((encoder) => encoder === name))),
  }
}

const decoderNames: Record<string, readonly string[]> = {
  av1: ['libdav1d', 'libaom-av1'],
  vp8: ['libvpx'],
  vp9: ['libvpx-vp9'],
  mp2: ['mp2float'],
  mp3: ['mp3float'],
  vorbis: ['libvorbis'],
  opus: ['libopus'],
}
