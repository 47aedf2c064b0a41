// In charge of: decoding the pieces of a joined source, one process after the other, into the pipes of the process that
// encodes them; their damage, their captions and their subtitles.
// Not in charge of: the bytes (rawJoin.ts), the arguments (plan/argv/pieceArgs.ts).
import type { Readable, Writable } from 'node:stream'
import { TaskError } from '#contract/taskError.ts'
import { BEGINNING_BYTES, begunWithin, MAY_BE_CUT } from '../../analysis/damage/streamBeginning.ts'
import { DamageMonitor } from '../../analysis/damage/damageMonitor.ts'
import { describeDamage, joinDamage, tooManyErrors, type DamageSummary } from '../../analysis/damage/damageReport.ts'
import { lookAtEnd } from '../../analysis/damage/decodeTail.ts'
import { EXACT_DURATION_FORMATS } from '../../analysis/durationCheck.ts'
import type { Attempt } from '../../attempt.ts'
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegResult, type PipeFeed } from '../../ffmpeg/run.ts'
import { FormatChangeWatch, STEADY_PIPE, SteadyFeed } from '../../analysis/steadyFeed.ts'
import type { CaptionDecoder } from '../../formats/cea/captionDecoder.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { toNumber } from '../../formats/rational.ts'
import {
  frameBytes,
  pieceArgs,
  piecePipes,
  readPiece,
  steadyPieceArgs,
  type PiecePipe,
} from '../../plan/argv/pieceArgs.ts'
import { steadyMix } from '../../plan/argv/steadyAudio.ts'
import { pieceError } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan, PiecePlan } from '#contract/task/plan/joinPlan.ts'
import type { AudioStream } from '../../plan/model/mediaInfo.ts'
import { readCaptions } from '../../segmenter/captionReader.ts'
import { readSubtitles, type SubtitleText } from '../../segmenter/subtitleReader.ts'
import { AudioFormatChange, damagedSource, requireCleanExit, requireCompleteSource, STALL_MS } from '../encode.ts'
import { JoinedText } from './joinedText.ts'
import type { OpenInput } from './openInput.ts'
import { PieceText } from './pieceText.ts'
import { RawJoin } from './rawJoin.ts'

const SAMPLE_RATE = 48_000
/** As an output may be shorter than its source (analysis/durationCheck.ts). */
const SHORTER_FRAMES = 2
const SHORTER_SHARE = 0.001

interface Options {
  /** audio: to measure it; damage is not judged then. */
  only: 'all' | 'audio'
  /** Source errors up to which the job still succeeds; null = any number. */
  limit: number | null
  cpuSeconds?: number | undefined
  /** The audio of every piece is decoded by a process of its own, which absorbs changes of its format. */
  steady: boolean
}

export class JoinFeed {
  readonly #attempt: Attempt
  readonly #plan: JoinPlan
  readonly #inputs: readonly OpenInput[]
  readonly #options: Options
  #raw: RawJoin | null = null
  #damage: DamageSummary[] = []
  #text = new JoinedText()
  #fraction = 0

  constructor(attempt: Attempt, plan: JoinPlan, inputs: readonly OpenInput[], options: Options) {
    this.#attempt = attempt
    this.#plan = plan
    this.#inputs = inputs
    this.#options = options
  }

  /** May be written again, from the beginning. Rejects with AudioFormatChange, unless `steady` is set. */
  pipeFeed(): PipeFeed {
    const { canvas, audio } = this.#plan
    const hasVideo = canvas !== null && this.#options.only === 'all'
    return { count: audio.length + (hasVideo ? 1 : 0), write: (pipes, ended) => this.#write(pipes, ended) }
  }

  /** True while the encoder waits for a piece. */
  get isStarving(): boolean {
    return this.#raw?.isStarving ?? true
  }

  /** Share of the pieces that is done, 0…1: all pieces count alike. */
  get fraction(): number {
    return this.#fraction
  }

  get damage(): DamageSummary {
    return joinDamage(this.#damage)
  }

  /** Captions of all pieces, once they are decoded. */
  get captions(): Pick<CaptionDecoder, 'end'> {
    return this.#text
  }

  get subtitles(): SubtitleText[] {
    return this.#text.subtitles(this.#plan.pieces[0]?.subtitles.length ?? 0)
  }

  async #write(pipes: readonly Writable[], ended: AbortSignal): Promise<void> {
    const { canvas, audio, pieces } = this.#plan
    const signal = AbortSignal.any([ended, this.#attempt.controller.signal])
    const video =
      canvas === null || this.#options.only === 'audio' ? null : { rate: canvas.rate, frameBytes: frameBytes(canvas) }
    const raw = new RawJoin({ video, audio: audio.map(({ channels }) => channels) }, pipes, signal)
    this.#raw = raw
    this.#damage = []
    this.#text = new JoinedText()
    for (const [index, piece] of pieces.entries()) {
      this.#fraction = index / pieces.length
      await this.#decode(raw, piece, index, signal).catch((error: unknown) => {
        throw pieceError(index, error)
      })
    }
    await raw.end()
  }

  async #decode(raw: RawJoin, piece: PiecePlan, index: number, signal: AbortSignal): Promise<void> {
    const { only } = this.#options
    const input = this.#inputs[index]!
    const own = { ...this.#attempt, loopback: input.loopback }
    const pipes = piecePipes(piece, only)
    const length = this.#lengthOf(piece)
    raw.begin({
      length,
      isFixed: piece.hasFixedEnd || only === 'audio',
      hasAudio: piece.audio.map((audio) => audio !== null),
      isFirst: index === 0,
      isLast: index === this.#plan.pieces.length - 1,
    })
    const start = raw.seconds
    const text = new PieceText(readPiece(piece, input.seekable).cut?.startSeconds ?? 0)
    if (pipes.length > 0) await this.#run(own, { raw, piece, input, pipes, text, start, signal, index })
    const { arrived, used } = await raw.finish(only === 'audio' ? Infinity : tolerance(length))
    if (only === 'audio') return
    this.#requireLength(piece, input, length, { arrived, used })
    this.#text.add(text, start, raw.seconds - start)
  }

  /** In frames; in samples where no video is read. */
  #lengthOf({ frames, durationSeconds }: PiecePlan): number | null {
    const { canvas } = this.#plan
    if (canvas !== null && this.#options.only === 'all') return frames
    const seconds = canvas === null ? durationSeconds : frames === null ? null : frames / toNumber(canvas.rate)
    return seconds === null ? null : Math.round(seconds * SAMPLE_RATE)
  }

  async #run(own: Attempt, { raw, piece: planned, input, pipes, text, start, signal, index }: Decoding): Promise<void> {
    const { engine, settings, workspace, controller } = own
    const { only, limit, cpuSeconds = 0, steady: isSteady } = this.#options
    const { loopback, media, seekable } = input
    const piece = isSteady ? withSteadyMixes(planned, media.audio) : planned
    const damage = new DamageMonitor({
      media,
      plan: {
        outputs: [],
        packaging: null,
        audioFiles: [],
        sourceAudio: piece.audio.flatMap((audio) => audio?.stream ?? []),
      },
      startSeconds: piece.startSeconds,
      clockSeconds: text.secondsBefore,
      begunWithin: begunWithin(await beginningOf(input, signal), media),
      limit,
      onExceeded: (error) => controller.abort(pieceError(index, error)),
    })
    const reading = {
      input: loopback.url,
      inputFlags: inputFlags(loopback.url),
      seekable,
      threads: settings.threads,
    }
    const steady =
      isSteady && pipes.some(({ kind }) => kind === 'audio')
        ? new SteadyFeed(engine, steadyPieceArgs(piece, pipes, reading, STEADY_PIPE), {
            cwd: workspace.cwd,
            onLine: damage.onLine,
            requireEnd: (result) => requireDecoded(result, damage),
            cpuSeconds,
          })
        : null
    const args = pieceArgs(piece, pipes, {
      ...reading,
      outputs: pipes.map((_pipe, position) => `pipe:${FIRST_PIPE_FD + position}`),
      steady: steady === null ? undefined : `pipe:${FIRST_PIPE_FD + pipes.length}`,
    })
    const change = new AbortController()
    const watch = new FormatChangeWatch(isSteady ? [] : media.audio)
    const onLine = (line: string): boolean => {
      if (watch.isChange(line)) change.abort(new AudioFormatChange())
      return damage.onLine(line)
    }
    const result = await runFfmpeg(engine, args, {
      cwd: workspace.cwd,
      purpose: `decode inputs[${index}]`,
      signal: AbortSignal.any([signal, change.signal]),
      stallMs: STALL_MS,
      limits: { cpuSeconds },
      pipeReaders: pipes.map((pipe) => this.#readerOf(pipe, raw, text)),
      pipeFeed: steady?.pipeFeed(),
      // Without an index, all that is before a cut is decoded first.
      bytesRead: () => loopback.bytesServed,
      isBlocked: () => raw.isBlocked || steady?.isStarving === true,
      onLine,
      onProgress: (report) => damage.onProgress(report),
    })
    signal.throwIfAborted()
    change.signal.throwIfAborted()
    requireCompleteSource(own)
    if (only === 'audio') return
    requireDecoded(result, damage)
    await lookAtEnd(own, damage)
    damage.requireWithinLimit()
    this.#damage.push(shiftDamage(damage.summary(), start))
    const total = this.damage
    if (limit !== null && total.total > limit) throw tooManyErrors(total, limit)
  }

  #readerOf(pipe: PiecePipe, raw: RawJoin, text: PieceText): (stream: Readable) => Promise<void> {
    switch (pipe.kind) {
      case 'video':
        return (stream) => raw.readVideo(stream)
      case 'audio':
        return (stream) => raw.readAudio(stream, pipe.track)
      case 'captions':
        return (stream) => readCaptions(stream, text.captions, Math.round(text.secondsBefore * TICKS_PER_SECOND))
      case 'subtitles':
        return async (stream) => void text.subtitles.set(pipe.track, await readSubtitles(stream))
    }
  }

  /** A piece that ends long before the time that it states was not read to its end. */
  #requireLength(
    piece: PiecePlan,
    { media }: OpenInput,
    length: number | null,
    found: { arrived: number; used: number },
  ): void {
    const isVideo = this.#plan.canvas !== null
    if (found.arrived === 0)
      throw damagedSource(`The source is damaged: it gave no ${isVideo ? 'frame' : 'audio'}.`, null)
    if (length === null || found.used >= length - tolerance(length)) return
    if (!media.formats.some((format) => EXACT_DURATION_FORMATS.has(format))) return
    const seconds = (count: number) => (isVideo ? count / toNumber(this.#plan.canvas!.rate) : count / SAMPLE_RATE)
    const damage = this.#damage.at(-1)
    const why = `It lasts ${seconds(found.arrived).toFixed(3)} s instead of ${seconds(length).toFixed(3)} s.`
    if (damage !== undefined && damage.total > 0)
      throw damagedSource(`${why} The source is damaged (${describeDamage(damage)}).`, null)
    throw new TaskError('output_incomplete', why, {
      details: { expected_seconds: seconds(length), measured_seconds: seconds(found.arrived) },
    })
  }
}

interface Decoding {
  raw: RawJoin
  piece: PiecePlan
  input: OpenInput
  pipes: readonly PiecePipe[]
  text: PieceText
  /** Seconds in the outputs at which the piece begins. */
  start: number
  signal: AbortSignal
  index: number
}

function withSteadyMixes(piece: PiecePlan, streams: readonly AudioStream[]): PiecePlan {
  const channelsOf = (stream: number) => streams.find(({ number }) => number === stream)?.channels ?? 0
  return {
    ...piece,
    audio: piece.audio.map((audio) =>
      audio === null ? null : { ...audio, mix: steadyMix(audio.mix, channelsOf(audio.stream)) },
    ),
  }
}

function requireDecoded(result: FfmpegResult, damage: DamageMonitor): void {
  if (result.ended === 'stalled')
    throw new TaskError('no_progress', 'The decoder made no progress for too long and was stopped.')
  requireCleanExit(result, damage)
}

function tolerance(length: number | null): number {
  return length === null ? 0 : Math.max(SHORTER_FRAMES, Math.ceil(length * SHORTER_SHARE))
}

function shiftDamage(found: DamageSummary, start: number): DamageSummary {
  const moved = (seconds: readonly number[]) => seconds.map((each) => each + start)
  return {
    packets: { ...found.packets, seconds: moved(found.packets.seconds) },
    frames: { ...found.frames, seconds: moved(found.frames.seconds) },
    messages: { ...found.messages, seconds: moved(found.messages.seconds) },
    gaps: found.gaps.map((gap) => ({ ...gap, seconds: gap.seconds + start })),
    formatChanges: (found.formatChanges ?? []).map((change) => ({ ...change, seconds: change.seconds + start })),
    sizeChanges: (found.sizeChanges ?? []).map((change) => ({ ...change, seconds: change.seconds + start })),
    rangeChanges: moved(found.rangeChanges ?? []),
    total: found.total,
  }
}

async function beginningOf({ loopback, media, seekable }: OpenInput, signal: AbortSignal): Promise<Uint8Array> {
  const mayBeCut = media.formats.some((format) => MAY_BE_CUT.has(format))
  return mayBeCut && seekable ? loopback.readRange(0, BEGINNING_BYTES, signal) : new Uint8Array()
}
