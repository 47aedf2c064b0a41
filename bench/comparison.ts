// In charge of: sides that do the same work, run in turns, and which of their runs count.
// Not in charge of: the work.
import { median, waitForIdleMachine, type ResourceUsage } from './stopwatch.ts'
import type { CpuByProcess } from './cpuByProcess.ts'
import { ratioRow, type Row } from './table.ts'

/** A run during which others kept more cores busy than this does not count for the wall time and is repeated, so often at most. */
const FOREIGN_CORES = 0.3
const TRIES = 3
const QUIET_MS = 60_000
/** Of ffmpeg's CPU time: what the transcoder itself may take. */
const TRANSCODER_GOAL = 0.02

export interface Run {
  stretch: ResourceUsage
  /** By part, of a run of the service. */
  parts: CpuByProcess
  /** What is to be said of it. */
  note: string
}

export interface Baseline {
  /** "the same command", "a plain command". */
  label: string
  /** The largest ratios that are fine; null = measured for information. */
  wallGoal: number | null
  cpuGoal: number | null
  run: () => Promise<ResourceUsage>
}

export interface Comparison {
  /** What the rows are called. */
  name: string
  /** Quiet runs of each side. */
  count: number
  /** The machine is not waited for: then every run counts, and the wall times are doubtful. */
  busy: boolean
  ours: () => Promise<Run>
  baselines: readonly Baseline[]
  note: (line: string) => void
}

interface Side {
  label: string
  run: () => Promise<{ stretch: ResourceUsage; note: string; parts?: CpuByProcess }>
  stretches: ResourceUsage[]
  parts: CpuByProcess[]
}

/** Against each baseline a row for the wall time, where enough runs were quiet, and one for CPU time; then the transcoder's share. */
export async function compareRuns({ name, count, busy, ours, baselines, note }: Comparison): Promise<Row[]> {
  const us: Side = { label: 'ours', run: ours, stretches: [], parts: [] }
  const others = baselines.map((baseline) => ({
    ...baseline,
    run: async () => ({ stretch: await baseline.run(), note: '' }),
    stretches: [],
    parts: [],
  }))
  const sides: Side[] = [us, ...others]
  // NaN where there is no /proc: then every run counts.
  const counted = ({ stretches }: Side): ResourceUsage[] =>
    stretches.filter(({ foreignCores }) => busy || !(foreignCores > FOREIGN_CORES))
  const enough = (): boolean => sides.every((side) => counted(side).length >= count)
  for (let at = 0; at < count * TRIES && !enough(); at++) {
    // The second has warm caches: take turns.
    const first = at % sides.length
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
      if (!busy) await waitForIdleMachine(FOREIGN_CORES, QUIET_MS)
      const { stretch, parts, note: words } = await side.run()
      side.stretches.push(stretch)
      if (parts !== undefined) side.parts.push(parts)
      note(
        `${side.label.padEnd(16)} ${reportRun(stretch)}   ${parts === undefined ? '' : `${tellParts(parts)}; `}${words}`,
      )
    }
  }
  const isEnough = enough()
  if (!isEnough) note('Not enough runs were quiet: no row for the wall time.')
  const wall = (side: Side): number => median(counted(side).map(({ seconds }) => seconds))
  const cpu = (side: Side): number => median(side.stretches.map(({ cpuSeconds }) => cpuSeconds))
  const part = (which: keyof CpuByProcess): number => median(us.parts.map((parts) => parts[which]))
  return [
    ...others.flatMap((other) => [
      ...(isEnough
        ? [ratioRow(`${name}, wall, against ${other.label}`, [wall(us), wall(other)], other.wallGoal, inSeconds)]
        : []),
      ratioRow(`${name}, CPU, against ${other.label}`, [cpu(us), cpu(other)], other.cpuGoal, inSeconds),
    ]),
    shareRow(`${name}, the transcoder’s own CPU, of ffmpeg’s`, part('transcoder'), part('ffmpeg')),
  ]
}

function shareRow(name: string, own: number, ffmpeg: number): Row {
  const row = ratioRow(name, [own, ffmpeg], TRANSCODER_GOAL, inSeconds)
  return { ...row, goal: `≤ ${TRANSCODER_GOAL * 100} %` }
}

const inSeconds = (value: number): string => `${value.toFixed(2)} s`

function reportRun(stretch: ResourceUsage): string {
  const { seconds: wall, cpuSeconds: cpu, foreignCores } = stretch
  return `${wall.toFixed(2)} s wall, ${cpu.toFixed(2)} s CPU, others kept ${foreignCores.toFixed(2)} cores busy`
}

function tellParts({ ffmpeg, transcoder, worker }: CpuByProcess): string {
  return `CPU: ffmpeg ${ffmpeg.toFixed(2)}, transcoder ${transcoder.toFixed(2)}, Worker ${worker.toFixed(2)}`
}
