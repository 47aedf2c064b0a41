// In charge of: a film that is divided among 1 to 300 transcoders: measured costs of its tasks, replayed in virtual time
// through the service's own ledger and scheduler.
// Not in charge of: the replay (test/simulation/replay.ts), the measured costs (bench/replay/).
import { REST } from '#contract/task/partPositions.ts'
import { replay, type Replayed } from '../../test/simulation/replay.ts'
import type { TaskCosts } from '../../test/simulation/measuredTranscoder.ts'
import { filmCosts, FILM, type Survey } from '../replay/filmCosts.ts'
import { median } from '../stopwatch.ts'
import type { BenchOptions, Row } from '../table.ts'

const TRANSCODERS = [1, 4, 16, 32, 300]
const AT = 16
/** Of N times the speed of one. */
const SPEED_GOAL = 0.85
/** Of the wall time. */
const SHARE_GOAL = 0.03
/** What one Durable Object takes in a second. */
const REQUESTS_GOAL = 1000
/** Of a chunk, in seconds of the film. */
const MANY_CHUNKS = FILM.seconds / 299

interface Case {
  name: string
  costs: (slots: number) => TaskCosts
}

export async function replayed({ note }: BenchOptions): Promise<Row[]> {
  const of = (name: string, survey: Survey): Case => ({ name, costs: (slots) => filmCosts(survey, slots) })
  const cases = [
    of('samples by the first attempt', 'main'),
    of('samples by parts', 'parts'),
    of('no samples (qvbr)', 'none'),
    { name: 'no samples, 300 parts', costs: () => filmCosts('none', 1, MANY_CHUNKS) },
  ]
  const rows: Row[] = []
  for (const line of FILM.assumptions) note(line)
  for (const { name, costs: costsOf } of cases) {
    note(`${name}: ${costsOf(1).surveys.length} parts of a survey before`)
    note(
      '   N  parts   wall s   speed/N  skew  rest s  survey  assembly  used  requests/s: database, monitors, one monitor',
    )
    let alone = 0
    for (const transcoders of TRANSCODERS) {
      const costs = costsOf(transcoders)
      const run = await replay(costs, transcoders)
      if (transcoders === 1) alone = run.seconds
      const speed = alone / run.seconds / transcoders
      note(tell(run, costs, transcoders, speed))
      if (transcoders === AT) rows.push(...rowsOf(`film of two hours, ${name}`, run, costs, speed))
      if (transcoders === costs.parts.length)
        rows.push(...loadRows(`film of two hours in ${transcoders} parts`, run, costs))
    }
  }
  return rows
}

/** The slowest chunk, of the median one, for each second of video: those at the end of the film are shorter. */
function skewOf({ partSeconds }: Replayed, { parts }: TaskCosts): number {
  const chunks = partSeconds.flatMap((seconds, position) =>
    position === REST ? [] : [seconds / parts[position]!.videoSeconds],
  )
  return Math.max(...chunks) / median(chunks)
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

function tell(run: Replayed, costs: TaskCosts, transcoders: number, speed: number): string {
  const { busiest, seconds } = run
  return [
    String(transcoders).padStart(4),
    String(costs.parts.length).padStart(6),
    seconds.toFixed(0).padStart(9),
    speed.toFixed(2).padStart(8),
    skewOf(run, costs).toFixed(2).padStart(6),
    (run.partSeconds[REST] ?? 0).toFixed(0).padStart(6),
    percent(run.surveySeconds / seconds).padStart(8),
    percent(run.assemblySeconds / seconds).padStart(8),
    percent(run.utilization).padStart(8),
    `   ${busiest.database}, ${busiest.monitors}, ${busiest.oneMonitor}`,
  ].join(' ')
}

function rowsOf(name: string, run: Replayed, costs: TaskCosts, speed: number): Row[] {
  const share = (what: string, seconds: number): Row => ({
    ...plain(`${name}, ${AT} transcoders: ${what}, of the wall time`, `${seconds.toFixed(1)} s`),
    baseline: `${run.seconds.toFixed(0)} s`,
    ratio: seconds / run.seconds,
    goal: `≤ ${SHARE_GOAL * 100} %`,
    goalMet: seconds / run.seconds <= SHARE_GOAL,
  })
  return [
    {
      ...plain(`${name}, ${AT} transcoders: speed, of ${AT} times one`, `${(speed * AT).toFixed(2)} ×`),
      ratio: speed,
      goal: `≥ ${SPEED_GOAL}`,
      goalMet: speed >= SPEED_GOAL,
    },
    plain(
      `${name}, ${AT} transcoders: slowest chunk, of the median, for each second of video`,
      `${skewOf(run, costs).toFixed(2)} ×`,
    ),
    share('survey', run.surveySeconds),
    share('assembly', run.assemblySeconds),
  ]
}

function loadRows(name: string, run: Replayed, { parts, surveys }: TaskCosts): Row[] {
  const most = Math.max(run.busiest.oneMonitor, run.busiest.database)
  // Its first attempt and its last, and with a survey one between.
  const attempts = parts.length + surveys.length + (surveys.length > 0 ? 3 : 2)
  return [
    {
      ...plain(
        `${name} at once: most requests in a second, one Durable Object; database`,
        `${run.busiest.oneMonitor}; ${run.busiest.database}`,
      ),
      goal: `< ${REQUESTS_GOAL}`,
      goalMet: most < REQUESTS_GOAL,
    },
    plain(
      `${name} at once: changes of a task’s row in the database, for each attempt`,
      (run.taskChanges / attempts).toFixed(2),
    ),
  ]
}

function plain(name: string, ours: string): Row {
  return { name, ours, baseline: '–', ratio: null, goal: '–', goalMet: null }
}
