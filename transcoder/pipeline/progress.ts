// In charge of: the progress of the attempt, as numbers that never decrease, and posting it to the Worker every second.
// Not in charge of: reacting to the answer; the run is informed through `onInstruction` and `onTimeout`.
import { HEARTBEAT_MS, type ProgressPost, type ProgressReply } from '#contract/task/protocol.ts'
import { StaleAttempt } from '../errors.ts'
import type { ResourceUsage } from './resourceUsage.ts'

/** What the encoder reports. */
export interface EncoderProgress {
  /** 0…1 of the work, as far as it is known. */
  fraction: number
  /** Multiple of real time; null until known. */
  speed: number | null
}

/** Period over which the current speed is measured: longer than the uneven intervals between outputs or parts. */
const WINDOW_MS = 20_000
const MIN_WINDOW_MS = 3000
/** Bytes per second, assumed until something was sent to the store. */
const ASSUMED_RATE = 5e6

export class ProgressTracker {
  #phase: ProgressPost['phase'] = 'starting'
  #fraction = 0
  /** What was done of the job before what is encoded now: by earlier attempts, or samples. */
  #before = 0
  #speed: number | null = null
  #encodeStarted: number | null = null
  #encodeSeconds = 0
  #produced = 0
  #stored = 0
  /** Samples of the last `WINDOW_MS`, and the one before them. */
  readonly #samples: { at: number; fraction: number }[] = []
  readonly #transfers: () => { bytesStored: number; transferSeconds: number }
  readonly #now: () => number
  readonly #resources: () => ResourceUsage

  constructor(
    transfers: () => { bytesStored: number; transferSeconds: number },
    now = () => performance.now(),
    resources: () => ResourceUsage = () => ({}),
  ) {
    this.#transfers = transfers
    this.#now = now
    this.#resources = resources
  }

  get phase(): ProgressPost['phase'] {
    return this.#phase
  }

  setPhase(phase: ProgressPost['phase']): void {
    if (phase === 'transcoding' || phase === 'sampling') this.#encodeStarted ??= this.#now()
    this.#phase = phase
  }

  /** The work that follows is the last part of the job's: `share`, from 0 to 1, is done. */
  startAt(share: number): void {
    this.#before = share
  }

  onEncoderProgress(report: EncoderProgress): void {
    // Only onEncodeEnd() sets 1: ffmpeg reaches its last time stamp before it has succeeded.
    if (Number.isFinite(report.fraction)) this.#fraction = Math.max(this.#fraction, Math.min(0.999, report.fraction))
    this.#samples.push({ at: this.#now(), fraction: this.#fraction })
    if (report.speed !== null && Number.isFinite(report.speed) && report.speed > 0) this.#speed = report.speed
  }

  /** Called after ffmpeg ended successfully and the outputs were found to be complete. */
  onEncodeEnd(): void {
    this.#fraction = 1
    this.#encodeSeconds = this.#encodeElapsedSeconds()
    this.#encodeStarted = null
  }

  /** Bytes of all output files together. */
  setBytesProduced(bytes: number): void {
    this.#produced = Math.max(this.#produced, bytes)
  }

  #encodeElapsedSeconds(): number {
    return this.#encodeStarted === null ? this.#encodeSeconds : (this.#now() - this.#encodeStarted) / 1000
  }

  /**
   * Seconds until everything is stored: by the speed of the whole encode or of its last seconds, whichever is slower,
   * and not less than the time that the remaining uploads need. null = unknown: nothing is encoded yet, or there was no
   * progress for a while.
   */
  remainingSeconds(): number | null {
    const { eta_seconds: overall, bytes_produced: produced, transfer_seconds: sending } = this.snapshot()
    if (overall === null) return null
    const current = this.#fraction === 1 ? 0 : this.#recentRemainingSeconds()
    if (current === null) return null
    const rate = this.#stored > 0 && sending > 0 ? this.#stored / sending : ASSUMED_RATE
    return Math.max(overall, current, (produced / this.#fraction - this.#stored) / rate)
  }

  /** 0 = no estimate yet; the estimate over the whole encode is used. */
  #recentRemainingSeconds(): number | null {
    const now = this.#now()
    while ((this.#samples[1]?.at ?? now) < now - WINDOW_MS) this.#samples.shift()
    const first = this.#samples[0]
    if (first === undefined || now - first.at < MIN_WINDOW_MS) return 0
    const made = this.#fraction - first.fraction
    return made > 0 ? ((1 - this.#fraction) * (now - first.at)) / 1000 / made : null
  }

  snapshot(): ProgressPost {
    const seconds = this.#encodeElapsedSeconds()
    const { bytesStored, transferSeconds } = this.#transfers()
    this.#stored = Math.max(this.#stored, bytesStored)
    const started = this.#fraction > 0.005
    return {
      phase: this.#phase,
      transcoded: this.#before + (1 - this.#before) * this.#fraction,
      transcode_seconds: seconds,
      speed: this.#speed,
      bytes_produced: Math.max(this.#produced, this.#stored),
      bytes_stored: this.#stored,
      transfer_seconds: transferSeconds,
      eta_seconds: started ? (seconds * (1 - this.#fraction)) / this.#fraction : null,
      ...this.#resources(),
    }
  }
}

export interface HeartbeatHandlers {
  onInstruction(instruction: 'cancel' | 'stop'): void
  /** No heartbeat was answered for `timeoutMs`: the lease has expired by now, and another attempt may be running. */
  onTimeout(): void
}

/** Posts the progress from now on, whatever the run is doing. Returns a function that stops it. */
export function startHeartbeat(
  post: (body: ProgressPost) => Promise<ProgressReply>,
  progress: ProgressTracker,
  handlers: HeartbeatHandlers,
  options: { everyMs?: () => number; timeoutMs?: number; now?: () => number } = {},
): () => void {
  const { everyMs = () => HEARTBEAT_MS, timeoutMs = 60_000, now = () => performance.now() } = options
  let lastAnswerAt = now()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const sendHeartbeat = async (): Promise<void> => {
    const began = now()
    try {
      const { instruction } = await post(progress.snapshot())
      lastAnswerAt = now()
      if (!stopped && instruction !== 'continue') handlers.onInstruction(instruction)
    } catch (error) {
      if (stopped) return
      if (error instanceof StaleAttempt) handlers.onInstruction('stop')
      else if (now() - lastAnswerAt > timeoutMs) handlers.onTimeout()
    }
    if (!stopped) timer = setTimeout(() => void sendHeartbeat(), Math.max(0, everyMs() - (now() - began)))
  }
  void sendHeartbeat()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
