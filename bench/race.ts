// In charge of: two sides that do the same work, run in turns, and which of their runs count.
// Not in charge of: the work.
import { median, untilQuiet, type Stretch } from './measure.ts'
import { ratioRow, type Row } from './table.ts'

/** A run during which others kept more cores busy than this is not counted and repeated, so often at most. */
const FOREIGN_CORES = 0.3
const TRIES = 3
const QUIET_MS = 60_000

export interface Race {
  /** What the rows are called. */
  name: string
  /** Quiet runs of each side. */
  count: number
  /** The largest ratio of wall times that is fine. */
  goal: number
  /** One run. `note` takes what is to be said of it. */
  ours: () => Promise<{ stretch: Stretch; note: string }>
  baseline: () => Promise<Stretch>
  note: (line: string) => void
}

/** A row for the wall time, where enough runs were quiet, and one for CPU time. */
export async function race({ name, count, goal, ours, baseline, note }: Race): Promise<Row[]> {
  const all = { ours: [] as Stretch[], baseline: [] as Stretch[] }
  const quiet = (side: keyof typeof all): Stretch[] =>
    // NaN where there is no /proc: then every run counts.
    all[side].filter(({ foreignCores }) => !(foreignCores > FOREIGN_CORES))
  const enough = (): boolean => Math.min(quiet('ours').length, quiet('baseline').length) >= count
  for (let at = 0; at < count * TRIES && !enough(); at++) {
    // Whoever comes second has warm caches: take turns.
    for (const side of at % 2 === 0 ? (['ours', 'baseline'] as const) : (['baseline', 'ours'] as const)) {
      await untilQuiet(FOREIGN_CORES, QUIET_MS)
      const run = side === 'ours' ? await ours() : { stretch: await baseline(), note: '' }
      all[side].push(run.stretch)
      note(`${side.padEnd(8)} ${tell(run.stretch)}   ${run.note}`)
    }
  }
  if (!enough())
    note(`Only ${quiet('ours').length} and ${quiet('baseline').length} runs were quiet: no row for the wall time.`)
  const wall = [median(quiet('ours').map(seconds)), median(quiet('baseline').map(seconds))] as const
  const cpu = [median(all.ours.map(cpuSeconds)), median(all.baseline.map(cpuSeconds))] as const
  const unit = (value: number): string => `${value.toFixed(2)} s`
  return [...(enough() ? [ratioRow(`${name}, wall`, wall, goal, unit)] : []), ratioRow(`${name}, CPU`, cpu, null, unit)]
}

const seconds = (stretch: Stretch): number => stretch.seconds
const cpuSeconds = (stretch: Stretch): number => stretch.cpuSeconds

function tell(stretch: Stretch): string {
  const { seconds: wall, cpuSeconds: cpu, foreignCores } = stretch
  return `${wall.toFixed(2)} s wall, ${cpu.toFixed(2)} s CPU, others kept ${foreignCores.toFixed(2)} cores busy`
}
