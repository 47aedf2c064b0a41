// In charge of: the inputs that have the audio of bursts of data, after the source, and their clock.
// Not in charge of: writing them (analysis/burstFiles.ts), ffmpeg's names of them (streams/programSelection.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { BurstPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { readCut } from './cutArgs.ts'
import { CLOCK_SECONDS } from './steadyAudio.ts'

/** Those that a run reads. */
export function readBursts({
  pids,
  sourceAudio,
  extracts,
}: Pick<Plan, 'pids' | 'sourceAudio' | 'extracts'>): readonly BurstPlan[] {
  return sourceAudio.length === 0 && extracts?.waveform == null ? [] : (pids?.bursts ?? [])
}

/**
 * `files`: `file:` URLs. Their clock is CLOCK_SECONDS where the outputs begin without a cut, and -seek_timestamp makes
 * ffmpeg keep it: it would begin with the first frame. `reading`: how the source is read.
 */
export function burstInputs(
  files: readonly string[],
  { cut, ...reading }: Pick<Plan, 'cut'> & Partial<Pick<Plan, 'packaging'>>,
  seekable: boolean,
): string[] {
  const seekOriginSeconds = cut?.seekOriginSeconds == null ? null : CLOCK_SECONDS
  const own = { ...reading, cut: cut && { ...cut, seekOriginSeconds }, videoOffsetSeconds: CLOCK_SECONDS }
  return files.flatMap((file) => [
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'matroska,webm', '-codec_whitelist', 'ac3,eac3'],
    // As for AC-3 that is a stream of the source.
    ...['-drc_scale', '0', '-seek_timestamp', '1'],
    ...(readCut(own, seekable).seek ?? ['-itsoffset', `${-CLOCK_SECONDS}`]),
    ...['-i', file],
  ])
}
