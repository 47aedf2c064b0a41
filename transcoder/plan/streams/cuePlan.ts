// In charge of: how a source's cues affect the outputs: their PID, and key frames where a splice is possible.
// Not in charge of: finding them (transcoder/formats/scte35/cueScan.ts), writing them to the output
// (transcoder/formats/scte35/cueInjector.ts).
import type { JobSpec, TsServiceSpec } from '#contract/job/jobSpec.ts'
import type { WarningCode } from '#contract/warningCodes.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { fileContainerOf, fileRules } from '../forms.ts'
import type { CuePlan } from '#contract/task/plan/plan.ts'
import type { PlanContext } from '../planContext.ts'
import type { Rational } from '../../formats/rational.ts'
import { TaskError } from '#contract/taskError.ts'
import { framesPerGridStep } from '../video/frameRate.ts'

/** The facts about a source's cues that planning needs. Times in 90 kHz ticks, 0 = the first frame. */
export interface SourceCues {
  pids: readonly number[]
  cueStreamType: number
  splicePoints: Iterable<number>
  schedules: number
  damaged: number
  /** Cues that are left out because they arrive outside the part of the source that the job uses; missing = none. */
  outside?: number
}

/** PIDs of the transport stream's tables and of null packets. */
const TABLE_PIDS = [0x00, 0x10, 0x11, 0x12, 0x14, 0x1ffb, 0x1fff]
/** The PIDs of segments, which ffmpeg's muxer writes. */
const MUXER_PIDS = { mapPid: 0x1000, videoPid: 0x100, audioPid: 0x101 }
/** One argument of a process holds 128 KiB (Linux, MAX_ARG_STRLEN). A splice point takes about 35 bytes of it. */
const MAX_SPLICE_POINTS = 2000
/** Share of a constant rate for cues and the larger program map, independent of the video. */
export const CUE_KBPS = 40

/** The job requests cues, and some output can carry them. */
export function carriesCues(spec: JobSpec): boolean {
  const container = fileContainerOf(spec)
  const { packaging } = spec
  return (
    spec.scte35Passthrough &&
    (container === null ? packaging?.hls === true || packaging?.dash === true : fileRules[container].hasService)
  )
}

/**
 * null where the job requests no cues, no output can carry them, or the source has none. The last two give a warning.
 */
export function planCues(context: PlanContext, cues: SourceCues | null): CuePlan | null {
  const { spec } = context
  if (!carriesCues(spec)) return null
  const field = 'scte35_passthough'
  const warn = (code: WarningCode, message: string) => context.warn({ code, field, message })
  if (cues === null || cues.pids.length === 0) {
    warn('no_cues', 'The source has no SCTE-35 cues to pass through.')
    return null
  }
  if (cues.damaged > 0) warn('cues_damaged', `${cues.damaged} damaged SCTE-35 sections of the source are left out.`)
  if (cues.schedules > 0)
    warn('splice_schedule', 'The source has splice_schedule commands; they are kept, but get no key frames.')
  if (cues.outside)
    warn(
      'cues_outside_cut',
      `${cues.outside} SCTE-35 cues arrive outside the part of the source that is used, and are left out.`,
    )
  const pid = spec.scte35Pid ?? cues.pids[0]!
  if (cues.pids.length > 1)
    warn(
      'cue_pids_merged',
      `The source has cues on the PIDs ${cues.pids.join(', ')}; the output has them all on ${pid}.`,
    )
  return { pid, streamType: cues.cueStreamType }
}

/**
 * Throws TaskError where an output uses the cues' PID. `tracks` counts the audio tracks; `service`: null = segments.
 */
export function requireUnusedPid({ pid }: CuePlan, tracks: number, service: TsServiceSpec | null): void {
  const { mapPid, videoPid, audioPid } = service ?? MUXER_PIDS
  const inUse = [
    ...TABLE_PIDS,
    mapPid,
    videoPid,
    ...Array.from({ length: tracks }, (_, position) => audioPid + position),
  ]
  if (!inUse.includes(pid)) return
  throw new TaskError(
    'unsupported_combination',
    `The cues cannot have the PID ${pid}: the output uses it. Set scte35_pid_remap to a PID other than ${inUse.join(', ')}.`,
    { field: 'scte35_pid_remap', details: { pid, in_use: inUse } },
  )
}

/**
 * Frames that begin at a splice point, ascending. The first frame is always a key frame. They lie on the grid of a rate
 * that all renditions share; `rate` is a multiple of it.
 */
export function spliceFrames(context: PlanContext, points: Iterable<number>, rate: Rational, grid: Rational): number[] {
  // Rounds as the fps filter does: to the nearest frame.
  const steps = framesPerGridStep(rate, grid)
  const frames = [...points].map((point) => Math.round((point * grid.num) / (grid.den * TICKS_PER_SECOND)) * steps)
  const distinct = [...new Set(frames)].filter((frame) => frame > 0).toSorted((a, b) => a - b)
  if (distinct.length > MAX_SPLICE_POINTS)
    context.warn({
      code: 'splice_points_limited',
      field: 'scte35_passthough',
      message: `Only the first ${MAX_SPLICE_POINTS} of ${distinct.length} splice points get key frames; all cues are kept.`,
    })
  return distinct.slice(0, MAX_SPLICE_POINTS)
}
