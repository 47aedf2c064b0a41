// In charge of: noticing, while an attempt runs, that this process can do nothing else any more, or that its memory fills;
// the thread that notices it reports the error of the attempt and ends the process.
// Not in charge of: that thread (attemptGuardThread.ts), programs that the process starts (ffmpeg/watchdog.ts, ffmpeg/sandbox.ts).
import { Worker } from 'node:worker_threads'
import { getHeapStatistics } from 'node:v8'
import { progressPostSchema, type ProgressPost, type RunRequest } from '#contract/task/protocol.ts'

export interface GuardLimits {
  /** Processor time of this process within one turn of its event loop. The longest legitimate turns take about a second. */
  turnSeconds: number
  /** Resident memory of this process, without the programs that it starts. */
  memoryBytes: number
}

/** What the thread is given. */
export interface GuardStart extends GuardLimits {
  /** Of the task, at the task API. */
  address: string
  token: string
  /** A number that changes with every turn, and the position of the phase in `phases`. */
  beats: Int32Array<SharedArrayBuffer>
  phases: readonly string[]
}

const BEAT_MS = 250
/** V8 ends the process without a word when its heap is full; most of the memory of an attempt is not even in the heap. */
const HEAP_SHARE = 0.75
/** On a small machine, whose heap is small too: what a job of many uploads at once may need. */
const LEAST_MEMORY = 2 ** 30
const PHASES = progressPostSchema.shape.phase.options

/** Returns a function that ends it. */
export function guardAttempt(
  { task_api_url: base, task_id: taskId, token }: Pick<RunRequest, 'task_api_url' | 'task_id' | 'token'>,
  phase: () => ProgressPost['phase'],
  limits: GuardLimits = {
    turnSeconds: 10,
    memoryBytes: Math.max(LEAST_MEMORY, HEAP_SHARE * getHeapStatistics().heap_size_limit),
  },
): () => Promise<void> {
  const beats = new Int32Array(new SharedArrayBuffer(8))
  const address = `${base.replace(/(?<!\/)\/+$/, '')}/task/${encodeURIComponent(taskId)}`
  const thread = new Worker(new URL('attemptGuardThread.ts', import.meta.url), {
    workerData: { ...limits, address, token, beats, phases: PHASES } satisfies GuardStart,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  // Without its guard an attempt runs on: the lease still shows when it is lost.
  thread.on('error', () => undefined)
  thread.unref()
  const beat = (): void => {
    Atomics.add(beats, 0, 1)
    Atomics.store(beats, 1, PHASES.indexOf(phase()))
  }
  const timer = setInterval(beat, BEAT_MS).unref()
  return async () => {
    clearInterval(timer)
    await thread.terminate()
  }
}
