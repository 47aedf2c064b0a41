// In charge of: one run of ffmpeg with its outputs uploaded while it runs, and the checks that they are complete.
// Not in charge of: the steps before and after (transcode.ts).
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Attempt } from '../attempt.ts'
import { requireExpectedDuration, requireUsualPackets, requireVideo, whyShorter } from '../analysis/durationCheck.ts'
import { lookAtEnd } from '../analysis/damage/decodeTail.ts'
import type { DamageMonitor } from '../analysis/damage/damageMonitor.ts'
import { describeDamage } from '../analysis/damage/damageReport.ts'
import { TaskError } from '#contract/taskError.ts'
import { TsMeter } from '../formats/metering/tsMeter.ts'
import { inputFlags, READ_THROUGH_FLAGS } from '../ffmpeg/inputAllowlist.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import { printableCommand } from '../ffmpeg/printableCommand.ts'
import type { FfmpegProgress } from '../ffmpeg/progressReader.ts'
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegResult, type PipeFeed } from '../ffmpeg/run.ts'
import { FormatChangeWatch, STEADY_PIPE, SteadyFeed } from '../analysis/steadyFeed.ts'
import { logoPath } from '../source/logoImage.ts'
import { tooLong } from './sourceLengths.ts'
import { multiplexStream, multiplexOptions, type Late } from './multiplexOutput.ts'
import { checkMp4 } from '../mp4FileCheck.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import { ffmpegArgs, steadyArgsOf, type SourceInput, type WrittenFiles } from '../plan/argv/ffmpegArgs.ts'
import { shortPackets } from '../outputAnalysis/sampleTables.ts'
import { mixedStreams } from '../plan/model/channelMix.ts'
import { plannedFiles } from '../plan/model/plannedFiles.ts'
import { isMp4, isMultiplexed } from '../plan/forms.ts'
import type { AudioStream, MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { secondsOfRange, skipsVideo } from '../plan/model/encodedRange.ts'
import { requiredDuration } from '../plan/streams/outputTiming.ts'
import { probe } from '../analysis/probe.ts'
import { WorkUpload } from '../upload/workObjects.ts'
import { segmentBytes } from '../segmenter/objectNames.ts'
import { pollGrowth } from '../upload/fileGrowth.ts'
import { writeModeOf, ObjectUpload, type UploadedObject } from '../upload/objectUpload.ts'

/** The purpose of the run that makes the outputs. */
export const ENCODE = 'encode'

export const STALL_MS = 60_000
/**
 * Bytes per second, which any disk reaches. Moving the header of an mp4 to the front rewrites the file without a
 * progress report.
 */
const REWRITE_BYTES_PER_SECOND = 20e6
/** The plan's size is an upper estimate; a file of twice that size is out of control. */
const SIZE_FACTOR = 2
const SIZE_EXTRA_BYTES = 256 * 1024 * 1024

/** Streams of segments that leave the same ffmpeg process through pipes (segmenter/segmenter.ts). */
export interface SegmentPipes {
  pipeReaders: readonly ((stream: Readable) => Promise<void>)[]
  /** Bytes read from the pipes so far. */
  readonly bytes: number
  /** True while reading is paused so that uploads can catch up. */
  readonly isBlocked: boolean
  /** Called after ffmpeg ended successfully. Throws if a segment or track is missing. */
  requireComplete(source: MediaInfo, seconds: number | null): void
}

/** Streams that are written to pipes: the pieces of a joined source (join/joinFeed.ts), or streams that are stored already. */
export interface JoinedPieces {
  pipeFeed: () => PipeFeed
  /** True while the encoder waits for a piece. */
  readonly isStarving: boolean
  /** Progress where the length of the source is not known, 0…1. */
  readonly fraction: number
}

/** What a run is given that decodes the source. */
export interface Decoding {
  /** Where tracks are stored that are no outputs (upload/workObjects.ts). */
  workDirectory: string
  /** The source can be read at any position. */
  seekable: boolean
  /** All audio is decoded by a process of its own, which absorbs changes of its format. */
  steady: boolean
  /** Other readers of the source: the source is judged only after they have ended. Never rejects. */
  readers: Promise<unknown>
  /** The source with the lengths of its packets, where it has only time stamps; null = it states its own. */
  measuredSource: () => Promise<MediaInfo | null>
  /** The most seconds that the outputs may have. */
  maxSeconds: number
  /** Limit of processor time (plan/estimate/deadline.ts); undefined = the default of the sandbox. */
  cpuSeconds: number | undefined
  /** Called with each line of ffmpeg; null = nothing listens. */
  onLine: ((line: string) => void) | null
}

export interface EncodeOptions {
  /** null = the run copies what parts of the job encoded. */
  decoding: Decoding | null
  /** null = the source is one file. */
  joined: JoinedPieces | null
  /** Cues to insert into the outputs, if the plan has any. */
  cues: readonly Cue[]
  /** Read the streams of a plan with packaging; null = it has none. */
  segmentPipes: SegmentPipes | null
  /** Read the frames and samples of a plan with extracts; null = it has none. */
  extractPipes: Pick<SegmentPipes, 'pipeReaders' | 'isBlocked'> | null
  /** The time in the source at which the outputs begin. */
  startSeconds: number
  /** Collects the damage that ffmpeg reports in the source. */
  damage: DamageMonitor
  /** Called for a transport stream whose encoder exceeded its rate. */
  onLate: (late: Late) => void
  files: Omit<WrittenFiles, 'logo'>
}

/** The channels or the sample rate of audio that is encoded change midway: it has to be decoded apart (SteadyFeed). */
export class AudioFormatChange extends Error {
  override name = 'AudioFormatChange'
}

/** One file that was found to be complete. */
export interface EncodedFile {
  /** Resolves when all of the file is stored. */
  stored: Promise<UploadedObject>
  file: string
  /** What ffprobe reports about it. */
  probed: MediaInfo
  /** The meter of a transport stream, which counts while the stream is written; null for other files. */
  meter: TsMeter | null
}

/** Encodes all outputs. Throws AudioFormatChange, unless `steady` is set; nothing is stored then. */
export async function encode(
  attempt: Attempt,
  plan: Plan,
  source: MediaInfo,
  extras: EncodeOptions,
): Promise<EncodedFile[]> {
  const encoded = await runEncode(attempt, plan, source, extras)
  if (encoded !== 'header too large') return encoded
  // ffmpeg exits with 0 if the space reserved for the header was too small, although the header has overwritten media.
  attempt.log.warn('the reserved space for the mp4 header was too small; encoding again')
  const outputs = plan.outputs.map((output) => ({ ...output, headerReserveBytes: null }))
  const rest = { ...plan, outputs, extracts: null }
  const again = await runEncode(attempt, rest, source, { ...extras, segmentPipes: null, extractPipes: null })
  if (again === 'header too large') throw new TaskError('internal', 'An mp4 without a reserved header reported one.')
  return again
}

async function runEncode(
  attempt: Attempt,
  plan: Plan,
  source: MediaInfo,
  extras: EncodeOptions,
): Promise<EncodedFile[] | 'header too large'> {
  const { taskClient, limiter, controller, workspace, progress } = attempt
  const { segmentPipes, damage, decoding } = extras
  damage.reset()
  const planned = plannedFiles(plan)
  const files = planned.map((output, index) => join(workspace.out, `${index}.${output.container}`))
  const meters = planned.map(({ container }) => (isMultiplexed(container) ? new TsMeter() : null))
  const discard = new AbortController()
  const change = new AbortController()
  const uploads = planned.map((output, index): Pick<ObjectUpload, 'advance' | 'finish' | 'waitForTransfers'> => {
    if (output.isIntermediate && decoding !== null)
      return new WorkUpload(files[index]!, `${decoding.workDirectory}/${output.path}`, {
        taskClient,
        limiter,
        signal: controller.signal,
        onFailure: (error) => controller.abort(error),
      })
    const request = { path: output.path, content_type: output.contentType, expected_size: output.expectedBytes }
    return new ObjectUpload(files[index]!, request, writeModeOf(output.container, output.headerReserveBytes), {
      taskClient,
      limiter,
      signal: AbortSignal.any([controller.signal, discard.signal]),
      // A transfer that fails because of the discard is not an error of its own: its cause is thrown, or the encode is
      // repeated.
      onFailure: (error) => {
        if (!discard.signal.aborted) controller.abort(error)
      },
      onBytes: meters[index] === null ? undefined : (bytes) => meters[index]?.push(bytes),
    })
  })
  const sizes = files.map(() => 0)
  let isReported = false
  const reportProduced = () => {
    const bytes = sizes.reduce((sum, size) => sum + size, segmentPipes?.bytes ?? 0)
    progress.setBytesProduced(bytes)
    if (!isReported) progress.onEncoderProgress({ fraction: producedShare(attempt, plan, bytes), speed: null })
  }
  const growth = pollGrowth(files, (index, size) => {
    sizes[index] = size
    reportProduced()
    uploads[index]!.advance(size)
  })

  // ffmpeg 5 sends no report before each output has begun: a sheet of thumbnails may begin after minutes.
  const unreported = setInterval(reportProduced, PRODUCED_MS)
  const outcome = { whole: false }
  try {
    const result = await spawnFfmpeg(attempt, plan, source, files, extras, change, (report) => {
      isReported ||= report.outSeconds > 0
      reportProduced()
      growth.pollNow()
    })
    reportProduced()
    growth.pollNow()
    await growth.stop()
    await decoding?.readers
    controller.signal.throwIfAborted()
    change.signal.throwIfAborted()
    if (decoding !== null) requireCompleteSource(attempt)
    const tooSmall = /reserved_moov_size is too small/.test(result.stderr)
    if (!tooSmall) requireCleanExit(result, damage)
    await lookAtEnd(attempt, damage)
    damage.requireWithinLimit()
    if (tooSmall || (await hasBrokenReservedHeader(plan, files))) return 'header too large'
    if (plan.durationSeconds !== null && TRUNCATED_ELEMENT.test(result.stderr))
      throw truncatedSource(result.stderr.slice(-200))
    const requireLength = lengthCheck(plan, source, decoding)
    await requireLength((known, media) =>
      attributeToSource(result, damage, () => segmentPipes?.requireComplete(media, known.durationSeconds)),
    )
    // The rest of each file is uploaded while ffprobe checks it: an incomplete file is never committed.
    const stored = uploads.map((upload) => upload.finish())
    for (const each of stored) each.catch(() => undefined) // reported through onFailure, and where it is awaited
    const probed = await probeOutputs(attempt, files)
    const encoded: EncodedFile[] = []
    for (const [index, output] of planned.entries()) {
      await requireLength((known, media) => {
        const expected = expectedSeconds(known, index, media, extras.startSeconds)
        attributeToSource(result, damage, () => {
          requireVideo(output, probed[index]!)
          requireExpectedDuration(output, expected, probed[index]!, media)
        })
      })
      const [file, meter] = [files[index]!, meters[index] ?? null]
      encoded.push({ stored: stored[index]!, file, probed: probed[index]!, meter })
    }
    outcome.whole = true
    return encoded
  } finally {
    clearInterval(unreported)
    await growth.stop()
    if (!outcome.whole) {
      discard.abort(new Error('the encode was discarded'))
      await Promise.all(uploads.map((upload) => upload.waitForTransfers()))
      await Promise.all(files.map((file) => rm(file, { force: true })))
    }
  }
}

const PRODUCED_MS = 1000
/** Bytes are only an estimate of the time that is encoded. */
const MAX_PRODUCED_SHARE = 0.9

/** How much of the outputs is made, by their bytes. */
function producedShare({ loopback }: Attempt, plan: Plan, bytes: number): number {
  const seconds = secondsOfRange(plan)
  if (seconds === null) return Math.min(MAX_PRODUCED_SHARE, loopback.readFraction)
  const segments = plan.packaging === null ? 0 : segmentBytes(plan.packaging, seconds)
  const expected = plannedFiles(plan).reduce((sum, { expectedBytes }) => sum + expectedBytes, segments)
  return expected > 0 ? Math.min(MAX_PRODUCED_SHARE, bytes / expected) : 0
}

type LengthCheck = (plan: Plan, source: MediaInfo) => void

/**
 * Repeats a check that fails with the measured lengths of the source, where it has time stamps only. If it fails again,
 * another attempt would find the same.
 */
function lengthCheck(plan: Plan, source: MediaInfo, decoding: Decoding | null): (check: LengthCheck) => Promise<void> {
  return async (check) => {
    try {
      check(plan, source)
    } catch (error) {
      if (!(error instanceof TaskError) || error.code !== 'output_incomplete') throw error
      const measured = (await decoding?.measuredSource()) ?? null
      if (measured === null) throw error
      const excess = Math.max(0, (source.durationSeconds ?? 0) - (measured.durationSeconds ?? 0))
      const shorter = <T extends { durationSeconds: number | null }>(each: T): T =>
        each.durationSeconds === null ? each : { ...each, durationSeconds: Math.max(0, each.durationSeconds - excess) }
      const { outputs, audioFiles } = plan
      const measuredPlan = { ...shorter(plan), outputs: outputs.map(shorter), audioFiles: audioFiles.map(shorter) }
      try {
        check(measuredPlan, measured)
      } catch (again) {
        if (!(again instanceof TaskError) || again.code !== 'output_incomplete') throw again
        throw damagedSource(`${again.message} ${whyShorter(measured)}`, again)
      }
    }
  }
}

/** Concurrent runs of ffprobe: each uses one core for a short time. */
const PROBES = 2

async function probeOutputs(
  { engine, controller, workspace }: Attempt,
  files: readonly string[],
): Promise<MediaInfo[]> {
  const probed: MediaInfo[] = []
  const queue = files.entries()
  const probeNext = async (): Promise<void> => {
    for (const [index, file] of queue)
      probed[index] = await probe(engine, `file:${file}`, { signal: controller.signal, cwd: workspace.cwd })
  }
  await Promise.all(Array.from({ length: PROBES }, probeNext))
  return probed
}

/**
 * Expected length of one file of the plan. It is null in the plan for an audio file whose stream does not state its
 * length.
 */
function expectedSeconds(plan: Plan, index: number, source: MediaInfo, startSeconds: number): number | null {
  const seconds = plannedFiles(plan)[index]?.durationSeconds ?? null
  const output = plan.outputs[index]
  if (output === undefined) return seconds
  const numbers = output.audio.flatMap(mixedStreams)
  return requiredDuration(source, numbers, seconds, startSeconds)
}

function spawnFfmpeg(
  attempt: Attempt,
  plan: Plan,
  source: MediaInfo,
  files: readonly string[],
  { decoding, joined, cues, segmentPipes, extractPipes, damage, onLate, files: written }: EncodeOptions,
  change: AbortController,
  onReport: (report: FfmpegProgress) => void,
): Promise<FfmpegResult> {
  const { engine, loopback, settings, log, progress, controller, workspace } = attempt
  const { maxSeconds = Infinity, cpuSeconds } = decoding ?? {}
  const isSteady = decoding?.steady === true
  const reading: SourceInput = {
    url: loopback.url,
    flags: [...inputFlags(loopback.url), ...(skipsVideo(plan) ? READ_THROUGH_FLAGS : [])],
    bursts: source.audio.flatMap(({ bursts }) => bursts?.file ?? []),
    seekable: decoding?.seekable === true,
  }
  const steady = isSteady
    ? steadyFeed(attempt, steadyArgsOf(plan, reading, settings.threads, STEADY_PIPE), damage, cpuSeconds)
    : null
  const watch = new FormatChangeWatch(plan.reads.kind !== 'pieces' && !isSteady ? decodedAudio(decoding, source) : [])
  const isRemuxed = (index: number): boolean => isMultiplexed(plan.outputs[index]?.container)
  const pipeFeed = steady?.pipeFeed() ?? joined?.pipeFeed()
  const remuxed = plan.outputs.filter(({ container }) => isMultiplexed(container)).length
  const further = [...(segmentPipes?.pipeReaders ?? []), ...(extractPipes?.pipeReaders ?? [])]
  const firstInput = FIRST_PIPE_FD + remuxed + further.length
  const inputs = Array.from({ length: pipeFeed?.count ?? 0 }, (_, index) => `pipe:${firstInput + index}`)
  const args = ffmpegArgs(plan, {
    input:
      joined === null
        ? { ...reading, kind: 'source', steady: steady === null ? null : `pipe:${firstInput}` }
        : { kind: 'pipes', pipes: inputs },
    files: { ...written, logo: logoPath(workspace) },
    carrierClock: engine.features.captionsAcrossRates ? 'input' : 'filter',
    // Transport streams go through pipes: this process multiplexes them and writes the files.
    outputs: [
      ...files.map((file, index) => (isRemuxed(index) ? `pipe:${FIRST_PIPE_FD + index}` : file)),
      ...further.map((_take, index) => `pipe:${FIRST_PIPE_FD + remuxed + index}`),
    ],
    threads: settings.threads,
    cores: settings.machine.vcpus,
  })
  log.info('ffmpeg starts', { command: printableCommand(engine.ffmpeg, args) })
  const planned = plannedFiles(plan)
  const largest = Math.max(0, ...planned.map((output) => output.expectedBytes))
  const rewritten = planned.some((output) => isMp4(output.container) && output.headerReserveBytes === null)
  const largestBytes = Math.ceil(largest * SIZE_FACTOR + SIZE_EXTRA_BYTES)
  const readers = plan.outputs.flatMap((output, index) =>
    isMultiplexed(output.container)
      ? async (stream: Readable) => {
          const late = await multiplexStream(stream, files[index]!, multiplexOptions(plan, output, cues), largestBytes)
          if (late === 0) return
          log.warn('access units missed their decoding time', { path: output.path, late })
          onLate({ path: output.path, count: late })
        }
      : [],
  )
  const seconds = secondsOfRange(plan)
  return runFfmpeg(engine, args, {
    cwd: workspace.cwd,
    purpose: ENCODE,
    signal: AbortSignal.any([controller.signal, change.signal]),
    stallMs: STALL_MS + (rewritten ? (largest / REWRITE_BYTES_PER_SECOND) * 1000 : 0),
    outputFiles: files.filter((_file, index) => !isRemuxed(index)),
    // For a source without a stated length, only the attempt's own time limit applies.
    limits: { fileBytes: largestBytes, cpuSeconds: cpuSeconds ?? 0 },
    pipeReaders: [...readers, ...further],
    pipeFeed,
    isBlocked: () =>
      segmentPipes?.isBlocked === true ||
      extractPipes?.isBlocked === true ||
      steady?.isStarving === true ||
      joined?.isStarving === true,
    bytesRead: () => loopback.bytesServed,
    onLine: (line) => {
      decoding?.onLine?.(line)
      if (watch.isChange(line)) change.abort(new AudioFormatChange())
      return damage.onLine(line)
    },
    onProgress: (report) => {
      requirePlausibleDuration(report.outSeconds, plan.durationSeconds, controller)
      if (report.outSeconds > maxSeconds + LATE_CLOCK_SECONDS) controller.abort(tooLong(report.outSeconds, maxSeconds))
      damage.onProgress(report)
      const fraction = seconds === null ? (joined?.fraction ?? loopback.readFraction) : report.outSeconds / seconds
      progress.onEncoderProgress({ fraction, speed: report.speed })
      onReport(report)
    },
  })
}

function steadyFeed(
  { engine, workspace }: Attempt,
  args: readonly string[],
  damage: DamageMonitor,
  cpuSeconds: number | undefined,
): SteadyFeed {
  return new SteadyFeed(engine, args, {
    cwd: workspace.cwd,
    onLine: damage.onLine,
    requireEnd: (result) => requireCleanExit(result, damage),
    cpuSeconds,
  })
}

function decodedAudio(decoding: Decoding | null, { audio }: MediaInfo): AudioStream[] {
  return decoding === null ? [] : audio
}

/**
 * The stated times of a source may be wrong, but not by this much: a single broken time stamp turns one second of video
 * into 26 h of one repeated frame.
 */
const MAX_DURATION_FACTOR = 10
const MAX_EXTRA_SECONDS = 600
/** The clock of an output may begin this late. */
const LATE_CLOCK_SECONDS = 10

function requirePlausibleDuration(seconds: number, expected: number | null, controller: AbortController): void {
  if (expected === null || seconds <= expected * MAX_DURATION_FACTOR + MAX_EXTRA_SECONDS) return
  const why = `The timestamps of the source jump: it lasts ${expected.toFixed(1)} s, and the output ${seconds.toFixed(0)} s.`
  controller.abort(
    new TaskError('source_damaged', why, { details: { expected_seconds: expected, measured_seconds: seconds } }),
  )
}

/**
 * ffmpeg exits with 0 on a source that broke off: failed reads of the loopback server are checked before the exit code.
 */
export function requireCompleteSource(attempt: Pick<Attempt, 'loopback'>): void {
  const integrity = attempt.loopback.integrity()
  if (!integrity.complete)
    throw integrity.error ?? new TaskError('source_incomplete', 'The source could not be read to its end.')
}

/**
 * mov.c: the index refers to a sample after the end of the file, although all of the file was delivered. ffmpeg still
 * exits with 0.
 */
const TRUNCATED_INDEX = /offset 0x[0-9a-f]+: partial file/
/**
 * matroskadec.c: an element is longer than the rest of the file. A recording without a stated length may end anywhere.
 */
const TRUNCATED_ELEMENT = /File ended prematurely/

function attributeToSource(result: FfmpegResult, damage: DamageMonitor, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (TRUNCATED_INDEX.test(result.stderr)) throw truncatedSource(error)
    const found = damage.summary()
    // Gaps alone may also be the decoder's.
    if (found.total > found.gaps.length && error instanceof TaskError && error.code === 'output_incomplete')
      throw damagedSource(`${error.message} The source is damaged (${describeDamage(found)}).`, error)
    throw error
  }
}

/** Permanent: another attempt would read the same bytes. */
export function damagedSource(message: string, cause: unknown): TaskError {
  return new TaskError('source_damaged', message, { cause })
}

function truncatedSource(cause: unknown): TaskError {
  const { expected_seconds: listed, measured_seconds: found } = (cause instanceof TaskError && cause.details) || {}
  const lists =
    typeof listed === 'number' && typeof found === 'number'
      ? `${listed.toFixed(1)} s, and the file contains about ${found.toFixed(1)} s of them`
      : 'more data than the file contains'
  return damagedSource(
    `The source is cut off: its index lists ${lists}. Bring the whole file, or set end_seconds to transcode what is there.`,
    cause,
  )
}

export function requireCleanExit(result: FfmpegResult, damage: DamageMonitor): void {
  if (result.ended === 'stalled')
    throw new TaskError('no_progress', 'The encoder made no progress for too long and was stopped.')
  const failure = explainExit(result)
  if (failure === null) return
  const found = damage.summary()
  // Versions of ffmpeg give up at different errors; earlier messages show that the source was the cause.
  if (failure.code === 'encoder_failed' && found.total > 0)
    throw damagedSource(
      `The source is damaged: it could not be decoded to its end (${describeDamage(found)}).`,
      failure.message,
    )
  throw new TaskError(failure.code, failure.message)
}

/**
 * True if an mp4 with a reserved header is broken, which another encode can fix. Throws if a broken one has no reserved
 * header.
 */
async function hasBrokenReservedHeader(plan: Plan, files: readonly string[]): Promise<boolean> {
  for (const [index, output] of plannedFiles(plan).entries()) {
    if (!isMp4(output.container)) continue
    const { complete, moovBeforeMdat, problem, boxes } = await checkMp4(files[index]!)
    if (complete && moovBeforeMdat) {
      const isCopied = plan.outputs[index]?.audio.some(({ copied }) => copied !== null) ?? true
      if (!isCopied) requireUsualPackets(output.path, await shortPackets(files[index]!, boxes))
      continue
    }
    if (output.headerReserveBytes !== null) return true
    throw new TaskError(
      'output_incomplete',
      `${output.path} is not a complete mp4: ${problem ?? 'its header is at the end'}.`,
    )
  }
  return false
}
