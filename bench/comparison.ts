// In charge of: running two or more sides with the same work alternately, and selecting the runs that count.
// Not in charge of: the work itself.
import { median, waitForIdleMachine, type ResourceUsage } from './stopwatch.ts'
import type { CpuByProcess } from './cpuByProcess.ts'
import { ratioRow, type Row } from './table.ts'

/**
 * Limit for other processes. A run during which they used more cores than this does not count for the wall time and is
 * repeated, up to TRIES times the wanted number of runs.
 */
const FOREIGN_CORES = 0.3
const TRIES = 3
const QUIET_MS = 60_000
/** Goal: the transcoder's own CPU time, as a fraction of ffmpeg's. */
const TRANSCODER_GOAL = 0.02

export interface Run {
  usage: ResourceUsage
  /** CPU time by process, for a run of the service. */
  cpuByProcess: CpuByProcess
  /** A remark for the table. */
  note: string
}

export interface Baseline {
  /** The baseline in words: "the same command", "a plain command". */
  label: string
  /** The largest acceptable ratios; null = measured for information. */
  wallGoal: number | null
  cpuGoal: number | null
  run: () => Promise<ResourceUsage>
}

export interface Comparison {
  /** Name of the rows. */
  name: string
  /** Undisturbed runs of each side. */
  count: number
  /** Do not wait for an idle machine. Every run counts, and the wall times are unreliable. */
  busy: boolean
  ours: () => Promise<Run>
  baselines: readonly Baseline[]
  note: (line: string) => void
}

interface Side {
  label: string
  run: () => Promise<{ usage: ResourceUsage; note: string; cpuByProcess?: CpuByProcess }>
  usages: ResourceUsage[]
  cpuByProcess: CpuByProcess[]
}

/**
 * For each baseline a row for the wall time, if enough runs were undisturbed, and one for CPU time; then a row for the
 * transcoder's share.
 */
export async function compareRuns({ name, count, busy, ours, baselines, note }: Comparison): Promise<Row[]> {
  const us: Side = { label: 'ours', run: ours, usages: [], cpuByProcess: [] }
  const others = baselines.map((baseline) => ({
    ...baseline,
    run: async () => ({ usage: await baseline.run(), note: '' }),
    usages: [],
    cpuByProcess: [],
  }))
  const sides: Side[] = [us, ...others]
  // NaN without /proc: then every run counts.
  const counted = ({ usages }: Side): ResourceUsage[] =>
    usages.filter(({ otherCores }) => busy || !(otherCores > FOREIGN_CORES))
  const enough = (): boolean => sides.every((side) => counted(side).length >= count)
  for (let at = 0; at < count * TRIES && !enough(); at++) {
    // The second run benefits from warm caches, so the order alternates.
    const first = at % sides.length
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
      if (!busy) await waitForIdleMachine(FOREIGN_CORES, QUIET_MS)
      const { usage, cpuByProcess, note: remark } = await side.run()
      side.usages.push(usage)
      if (cpuByProcess !== undefined) side.cpuByProcess.push(cpuByProcess)
      note(
        `${side.label.padEnd(16)} ${reportRun(usage)}   ${cpuByProcess === undefined ? '' : `${formatCpu(cpuByProcess)}; `}${remark}`,
      )
    }
  }
  const isEnough = enough()
  if (!isEnough) note('Not enough runs were quiet: no row for the wall time.')
  const wall = (side: Side): number => median(counted(side).map(({ seconds }) => seconds))
  const cpu = (side: Side): number => median(side.usages.map(({ cpuSeconds }) => cpuSeconds))
  const part = (which: keyof CpuByProcess): number => median(us.cpuByProcess.map((cpuByProcess) => cpuByProcess[which]))
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

function reportRun(usage: ResourceUsage): string {
  const { seconds: wall, cpuSeconds: cpu, otherCores } = usage
  return `${wall.toFixed(2)} s wall, ${cpu.toFixed(2)} s CPU, others kept ${otherCores.toFixed(2)} cores busy`
}

function formatCpu({ ffmpeg, transcoder, worker }: CpuByProcess): string {
  return `CPU: ffmpeg ${ffmpeg.toFixed(2)}, transcoder ${transcoder.toFixed(2)}, Worker ${worker.toFixed(2)}`
}
