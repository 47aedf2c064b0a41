// In charge of: the gating blocks of a stretch of audio (ITU-R BS.1770), counted by level, so that stretches which are
// measured apart add up to the loudness of the whole.
// Not in charge of: measuring them (transcoder/analysis/loudness/), the gain that follows (loudnessGain.ts).

/** Blocks below the absolute gate are left out: they never count. */
export interface LoudnessLevels {
  /** Steps above the absolute gate, ascending. */
  steps: number[]
  /** How many blocks each step has. */
  blocks: number[]
  /** dB above full scale; null = silence, or not measured. */
  truePeakDb: number | null
}

/** Blocks below it do not count. */
export const ABSOLUTE_GATE_LUFS = -70
/** Neither do those that are so much below the mean of the others. */
const RELATIVE_GATE_LU = -10
/** Of a level: those of ffmpeg's ebur128, so that both find the same loudness. */
const STEPS_PER_LU = 100

/** `momentary`: the level of each block in LUFS. */
export function countLevels(momentary: readonly number[], truePeakDb: number | null): LoudnessLevels {
  const counts = new Map<number, number>()
  for (const lufs of momentary) if (lufs >= ABSOLUTE_GATE_LUFS) add(counts, toStep(lufs), 1)
  return levelsOf(counts, truePeakDb)
}

export function joinLevels(stretches: readonly LoudnessLevels[]): LoudnessLevels {
  const counts = new Map<number, number>()
  for (const { steps, blocks } of stretches)
    for (const [index, step] of steps.entries()) add(counts, step, blocks[index]!)
  const peaks = stretches.flatMap(({ truePeakDb }) => truePeakDb ?? [])
  return levelsOf(counts, peaks.length === 0 ? null : Math.max(...peaks))
}

/** In tenths, as ebur128 reports it; null = no block is above the absolute gate. */
export function integratedLufs({ steps, blocks }: LoudnessLevels): number | null {
  const all = meanPower(steps, blocks, 0)
  if (all === null) return null
  const gate = toStep(10 * Math.log10(all) + RELATIVE_GATE_LU)
  const kept = meanPower(steps, blocks, gate)
  return kept === null ? null : Math.round(100 * Math.log10(kept)) / 10
}

/** 10 ** (LUFS / 10). */
function meanPower(steps: readonly number[], blocks: readonly number[], from: number): number | null {
  let [sum, count] = [0, 0]
  for (const [index, step] of steps.entries()) {
    if (step < from) continue
    sum += blocks[index]! * 10 ** ((step / STEPS_PER_LU + ABSOLUTE_GATE_LUFS) / 10)
    count += blocks[index]!
  }
  return count === 0 ? null : sum / count
}

function toStep(lufs: number): number {
  return Math.floor((lufs - ABSOLUTE_GATE_LUFS) * STEPS_PER_LU)
}

function add(counts: Map<number, number>, step: number, blocks: number): void {
  counts.set(step, (counts.get(step) ?? 0) + blocks)
}

function levelsOf(counts: ReadonlyMap<number, number>, truePeakDb: number | null): LoudnessLevels {
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  return { steps: sorted.map(([step]) => step), blocks: sorted.map(([, count]) => count), truePeakDb }
}
