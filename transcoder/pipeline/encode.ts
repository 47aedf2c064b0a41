// In charge of: one run of ffmpeg with its outputs leaving alongside, and whether what it wrote is whole.
// Not in charge of: what comes before and after (runTask.ts).
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Attempt } from './attempt.ts'
import { requireWholeLength } from '../analysis/durationCheck.ts'
import { lookAtEnd } from '../analysis/damage/decodeTail.ts'
import type { DamageWatch } from '../analysis/damage/damageMonitor.ts'
import { summary } from '../analysis/damage/damageReport.ts'
import { TaskError } from '#contract/taskError.ts'
import { TsMeter } from '../formats/metering/tsMeter.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import { FIRST_TAKEN, printableCommand, runFfmpeg, type FfmpegResult } from '../ffmpeg/run.ts'
import { logoFile } from '../source/logoImage.ts'
import { convey, multiplexOptions, type Late } from './multiplexOutput.ts'
import { checkMp4 } from '../mp4FileCheck.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import { ffmpegArgs } from '../plan/argv/ffmpegArgs.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import { isMp4, isMultiplexed } from '../plan/forms.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '../plan/model/plan.ts'
import { requiredLength } from '../plan/streams/outputTiming.ts'
import { probe } from '../analysis/probe.ts'
import { watchGrowth } from '../upload/fileGrowth.ts'
import { finalityOf, ObjectUpload, type StoredObject } from '../upload/objectUpload.ts'

/** The purpose of the run that makes the outputs. */
export const ENCODE = 'encode'

const STALL_MS = 60_000
/** Moving the header of an mp4 to the front rewrites the file without a word of progress: bytes per second that any disk does. */
const REWRITE_BYTES_PER_SECOND = 20e6
/** The plan's size is an upper estimate; a file at twice that is a runaway. */
const SIZE_FACTOR = 2
const SIZE_EXTRA_BYTES = 256 * 1024 * 1024

/** Streams of segments that leave the same process through pipes (segmenter/segmenter.ts). */
export interface Pipes {
  takers: readonly ((stream: Readable) => Promise<void>)[]
  /** What they have taken so far. */
  readonly bytes: number
  /** True while they wait for transfers. */
  readonly isHeld: boolean
  /** Once ffmpeg has ended well. Throws where something is missing. */
  requireWhole(source: MediaInfo): void
}

export interface Extras {
  /** Put into the outputs of a plan that has any. */
  cues?: readonly Cue[] | undefined
  /** Take the streams of a plan with packaging. */
  pipes?: Pipes | null
  /** Where on the source's clock the outputs begin. */
  startSeconds: number
  /** Sees what shows of the source's damage. */
  damage: DamageWatch
  /** Of a transport stream whose encoder exceeded its rate. */
  onLate?: (late: Late) => void
  /** Who else reads the source: the source is judged once nobody does. Never rejects. */
  readers?: Promise<unknown> | undefined
  /** Of processor time (plan/estimate/deadline.ts); undefined = as any other look at a source. */
  cpuSeconds?: number | undefined
}

/** One file that was found whole. */
export interface Encoded {
  /** Once all of it is stored. */
  stored: Promise<StoredObject>
  file: string
  /** As ffprobe sees it. */
  probed: MediaInfo
  /** Of a transport stream, counted as it leaves. */
  meter: TsMeter | null
}

/** Encodes all outputs. */
export async function encode(attempt: Attempt, plan: Plan, source: MediaInfo, extras: Extras): Promise<Encoded[]> {
  const encoded = await encodeOnce(attempt, plan, source, extras)
  if (encoded !== 'header too large') return encoded
  // ffmpeg exits with 0 when the room kept for the header was too small, and has overwritten media with it.
  attempt.log.warn('the reserved header was too small: encoding again')
  const outputs = plan.outputs.map((output) => ({ ...output, headerReserveBytes: null }))
  const again = await encodeOnce(attempt, { ...plan, outputs }, source, { ...extras, pipes: null })
  if (again === 'header too large') throw new TaskError('internal', 'An mp4 without a reserved header reported one.')
  return again
}

async function encodeOnce(
  attempt: Attempt,
  plan: Plan,
  source: MediaInfo,
  extras: Extras,
): Promise<Encoded[] | 'header too large'> {
  const { door, lanes, halt, workspace, progress } = attempt
  const { pipes = null, damage } = extras
  damage.begin()
  const planned = plannedFiles(plan)
  const files = planned.map((output, index) => join(workspace.out, `${index}.${output.container}`))
  const meters = planned.map(({ container }) => (isMultiplexed(container) ? new TsMeter() : null))
  const discard = new AbortController()
  const uploads = planned.map((output, index) => {
    const request = { path: output.path, content_type: output.contentType, expected_size: output.expectedBytes }
    return new ObjectUpload(files[index]!, request, finalityOf(output.container, output.headerReserveBytes), {
      door,
      lanes,
      signal: AbortSignal.any([halt.signal, discard.signal]),
      // A transfer that the discard ends is no reason: the one that led to it is thrown, or the encode begins again.
      onFailure: (error) => {
        if (!discard.signal.aborted) halt.abort(error)
      },
      observe: meters[index] === null ? undefined : (chunk) => meters[index]?.push(chunk),
    })
  })
  const sizes = files.map(() => 0)
  const produced = () => progress.produced(sizes.reduce((sum, bytes) => sum + bytes, pipes?.bytes ?? 0))
  const growth = watchGrowth(files, (index, size) => {
    sizes[index] = size
    produced()
    uploads[index]!.advance(size)
  })

  const keep = { whole: false }
  try {
    const result = await spawnFfmpeg(attempt, plan, files, extras, () => {
      produced()
      growth.poke()
    })
    produced()
    growth.poke()
    await growth.stop()
    await extras.readers
    halt.signal.throwIfAborted()
    requireSource(attempt)
    const tooSmall = /reserved_moov_size is too small/.test(result.stderr)
    if (!tooSmall) requireGoodExit(result, damage)
    await lookAtEnd(attempt, damage)
    damage.requireFew()
    if (tooSmall || (await hasBrokenReserve(plan, files))) return 'header too large'
    if (plan.durationSeconds !== null && CUT_ELEMENT.test(result.stderr)) throw cutSource(result.stderr.slice(-200))
    explainingCuts(result, damage, () => pipes?.requireWhole(source))
    // What is left of a file leaves while ffprobe looks at it: one that is not whole is never committed.
    const stored = uploads.map((upload) => upload.finish())
    for (const each of stored) each.catch(() => undefined) // told through onFailure, and to the one that waits for it
    const probed = await probeAll(attempt, files)
    const encoded: Encoded[] = []
    for (const [index, output] of planned.entries()) {
      const expected = expectedSeconds(plan, index, source, extras.startSeconds)
      explainingCuts(result, damage, () => requireWholeLength(output, expected, probed[index]!, source.formats))
      const [file, meter] = [files[index]!, meters[index] ?? null]
      encoded.push({ stored: stored[index]!, file, probed: probed[index]!, meter })
    }
    keep.whole = true
    return encoded
  } finally {
    await growth.stop()
    if (!keep.whole) {
      discard.abort(new Error('the encode was discarded'))
      await Promise.all(uploads.map((upload) => upload.settle()))
      await Promise.all(files.map((file) => rm(file, { force: true })))
    }
  }
}

/** So many at a time: each takes a core for a moment. */
const PROBES = 2

async function probeAll({ engine, halt, workspace }: Attempt, files: readonly string[]): Promise<MediaInfo[]> {
  const probed: MediaInfo[] = []
  const rest = files.entries()
  const probeSome = async (): Promise<void> => {
    for (const [index, file] of rest)
      probed[index] = await probe(engine, `file:${file}`, { signal: halt.signal, cwd: workspace.cwd })
  }
  await Promise.all(Array.from({ length: PROBES }, probeSome))
  return probed
}

/** Of one file of the plan. An audio file's own length is null in the plan where its stream does not state it. */
function expectedSeconds(plan: Plan, index: number, source: MediaInfo, startSeconds: number): number | null {
  const seconds = plannedFiles(plan)[index]?.durationSeconds ?? null
  const output = plan.outputs[index]
  if (output === undefined) return seconds
  const numbers = output.audio.map(({ sourceStream }) => sourceStream)
  return requiredLength(source, numbers, seconds, startSeconds)
}

function spawnFfmpeg(
  attempt: Attempt,
  plan: Plan,
  files: readonly string[],
  { cues = [], pipes = null, cpuSeconds, damage, onLate }: Extras,
  poke: () => void,
): Promise<FfmpegResult> {
  const { engine, gateway, settings, log, progress, halt, workspace } = attempt
  const isOurs = (index: number): boolean => isMultiplexed(plan.outputs[index]?.container)
  const args = ffmpegArgs(plan, {
    input: gateway.url,
    inputFlags: inputFlags(gateway.url),
    // Transport streams come through this process, which writes the files.
    outputs: [
      ...files.map((file, index) => (isOurs(index) ? `pipe:${FIRST_TAKEN + index}` : file)),
      // A plan with streams has no outputs: these are the only pipes.
      ...(pipes?.takers ?? []).map((_take, index) => `pipe:${FIRST_TAKEN + index}`),
    ],
    logo: logoFile(workspace),
    threads: settings.threads,
    cores: settings.machine.vcpus,
  })
  log.info('ffmpeg starts', { command: printableCommand(engine.ffmpeg, args) })
  const planned = plannedFiles(plan)
  const largest = Math.max(0, ...planned.map((output) => output.expectedBytes))
  const rewritten = planned.some((output) => isMp4(output.container) && output.headerReserveBytes === null)
  const largestBytes = Math.ceil(largest * SIZE_FACTOR + SIZE_EXTRA_BYTES)
  const takers = plan.outputs.flatMap((output, index) =>
    isMultiplexed(output.container)
      ? async (stream: Readable) => {
          const late = await convey(stream, files[index]!, multiplexOptions(plan, output, cues), largestBytes)
          if (late === 0) return
          log.warn('access units are late in the multiplex', { path: output.path, late })
          onLate?.({ path: output.path, count: late })
        }
      : [],
  )
  return runFfmpeg(engine, args, {
    cwd: workspace.cwd,
    purpose: ENCODE,
    signal: halt.signal,
    stallMs: STALL_MS + (rewritten ? (largest / REWRITE_BYTES_PER_SECOND) * 1000 : 0),
    creates: files.filter((_file, index) => !isOurs(index)),
    // Of a source that does not say how long it is, only the attempt's own bound holds.
    limits: { fileBytes: largestBytes, cpuSeconds: cpuSeconds ?? 0 },
    takers: [...takers, ...(pipes?.takers ?? [])],
    isHeld: () => pipes?.isHeld === true,
    onLine: damage.line,
    onProgress: (report) => {
      requirePlausible(report.outSeconds, plan.durationSeconds, halt)
      damage.progress(report)
      const fraction = plan.durationSeconds === null ? gateway.fraction : report.outSeconds / plan.durationSeconds
      progress.encoded({ fraction, speed: report.speed })
      poke()
    },
  })
}

/** Times of a source may be told wrong, but not that wrong: one broken stamp makes 26 h of one picture of a second's film. */
const LONGER_FACTOR = 10
const LONGER_SECONDS = 600

function requirePlausible(seconds: number, expected: number | null, halt: AbortController): void {
  if (expected === null || seconds <= expected * LONGER_FACTOR + LONGER_SECONDS) return
  const why = `The time stamps of the source jump: it lasts ${expected.toFixed(1)} s, and what was made of it ${seconds.toFixed(0)} s.`
  halt.abort(
    new TaskError('source_damaged', why, { details: { expected_seconds: expected, measured_seconds: seconds } }),
  )
}

/** ffmpeg exits with 0 on a source that broke off half way: what the gateway could not give decides, before the exit code. */
export function requireSource(attempt: Pick<Attempt, 'gateway'>): void {
  const verdict = attempt.gateway.verdict()
  if (!verdict.complete)
    throw verdict.error ?? new TaskError('source_incomplete', 'The source could not be read to its end.')
}

/** mov.c: the index places a sample behind the end of the file, all of which was delivered. ffmpeg still exits with 0. */
const CUT_SOURCE = /offset 0x[0-9a-f]+: partial file/
/** matroskadec.c: an element is longer than what is left. A recording that says no length may end anywhere. */
const CUT_ELEMENT = /File ended prematurely/

function explainingCuts(result: FfmpegResult, damage: DamageWatch, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (CUT_SOURCE.test(result.stderr)) throw cutSource(error)
    const found = damage.findings()
    if (found.total > 0 && error instanceof TaskError && error.code === 'output_incomplete')
      throw damagedSource(`${error.message} The source is damaged (${summary(found)}).`, error)
    throw error
  }
}

/** Permanent: another attempt would read the same bytes. */
function damagedSource(message: string, cause: unknown): TaskError {
  return new TaskError('source_damaged', message, { cause })
}

function cutSource(cause: unknown): TaskError {
  return damagedSource('The source is cut off: its index lists more than the file holds.', cause)
}

function requireGoodExit(result: FfmpegResult, damage: DamageWatch): void {
  if (result.ended === 'stalled')
    throw new TaskError('no_progress', 'The encoder made no progress for too long and was stopped.')
  const verdict = explainExit(result)
  if (verdict === null) return
  const found = damage.findings()
  // What a version of ffmpeg gives up at differs; that it was the source shows in what it said before.
  if (verdict.code === 'encoder_failed' && found.total > 0)
    throw damagedSource(
      `The source is damaged: it could not be decoded to its end (${summary(found)}).`,
      verdict.message,
    )
  throw new TaskError(verdict.code, verdict.message)
}

/** True when an mp4 with a reservation is broken, which encoding again can mend. Throws for one without. */
async function hasBrokenReserve(plan: Plan, files: readonly string[]): Promise<boolean> {
  for (const [index, output] of plannedFiles(plan).entries()) {
    if (!isMp4(output.container)) continue
    const { complete, moovBeforeMdat, problem } = await checkMp4(files[index]!)
    if (complete && moovBeforeMdat) continue
    if (output.headerReserveBytes !== null) return true
    throw new TaskError(
      'output_incomplete',
      `${output.path} is not a whole mp4: ${problem ?? 'its header is at the end'}.`,
    )
  }
  return false
}
