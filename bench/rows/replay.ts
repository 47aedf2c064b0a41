// In charge of: a film that is divided among 1 to 300 transcoders: measured costs of its tasks, replayed in virtual time
// through the service's own ledger and scheduler.
// Not in charge of: the replay (test/simulation/replay.ts), the measured costs (bench/replay/).
import { replay, type Replayed } from '../../test/simulation/replay.ts'
import type { TaskCosts } from '../../test/simulation/measuredTranscoder.ts'
import { chunksBeforeRest } from '../../transcoder/plan/division/sharedReading.ts'
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
/** Of a chunk, in seconds of the film: as it is divided unasked, and 300 parts. */
const CHUNK_SECONDS = { unasked: 0, many: FILM.seconds / 299 }

/** The position of the part that makes the sound and what else is not video. */
const REST = 1

interface Case {
  name: string
  costs: TaskCosts
  /** The rest uses what chunks read of the source, and begins accordingly late. */
  isShared: boolean
}

export async function replayed({ note }: BenchOptions): Promise<Row[]> {
  const of = (name: string, survey: Survey, chunkSeconds: number, isShared = false): Case => ({
    name,
    costs: filmCosts({ survey, chunkSeconds: chunkSeconds || undefined }),
    isShared,
  })
  const cases = [
    of('samples by the first attempt', 'main', CHUNK_SECONDS.unasked),
    of('samples by parts', 'parts', CHUNK_SECONDS.unasked),
    of('no samples (qvbr)', 'none', CHUNK_SECONDS.unasked),
    of('no samples, the source is read once', 'none', CHUNK_SECONDS.unasked, true),
    of('samples by parts, the source is read once', 'parts', CHUNK_SECONDS.unasked, true),
    of('no samples, 300 parts', 'none', CHUNK_SECONDS.many),
  ]
  const rows: Row[] = []
  for (const line of FILM.assumptions) note(line)
  for (const { name, costs, isShared } of cases) {
    const { length } = costs.parts
    note(`${name}: ${length} parts, ${costs.surveys.length} of a survey before`)
    note(
      '   N    wall s   speed/N  skew  rest s  survey  assembly  used  requests/s: database, monitors, one monitor; chunks read again',
    )
    let alone = 0
    for (const transcoders of TRANSCODERS) {
      const run = await replay(isShared ? sharing(costs, transcoders) : costs, transcoders)
      if (transcoders === 1) alone = run.seconds
      const speed = alone / run.seconds / transcoders
      note(tell(run, transcoders, speed))
      if (transcoders === AT) rows.push(...rowsOf(`film of two hours, ${name}`, run, speed))
      if (transcoders === length) rows.push(...loadRows(`film of two hours in ${length} parts`, run, costs))
    }
  }
  return rows
}

/** As the product plans it, from the mean of all chunks. */
function sharing(costs: TaskCosts, slots: number): TaskCosts {
  const chunks = costs.parts.filter((_part, position) => position !== REST)
  const chunkSeconds = costs.start + chunks.reduce((sum, { seconds }) => sum + seconds, 0) / chunks.length
  const restSeconds = costs.parts[REST]!.seconds
  return { ...costs, chunksBeforeRest: chunksBeforeRest({ chunks: chunks.length, chunkSeconds, restSeconds, slots }) }
}

/** The slowest chunk, of the median one. */
function skewOf({ partSeconds }: Replayed): number {
  const chunks = partSeconds.filter((_seconds, position) => position !== REST)
  return Math.max(...chunks) / median(chunks)
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

function tell(run: Replayed, transcoders: number, speed: number): string {
  const { busiest, seconds } = run
  return [
    String(transcoders).padStart(4),
    seconds.toFixed(0).padStart(9),
    speed.toFixed(2).padStart(8),
    skewOf(run).toFixed(2).padStart(6),
    (run.partSeconds[REST] ?? 0).toFixed(0).padStart(6),
    percent(run.surveySeconds / seconds).padStart(8),
    percent(run.assemblySeconds / seconds).padStart(8),
    percent(run.utilization).padStart(8),
    `   ${busiest.database}, ${busiest.monitors}, ${busiest.oneMonitor}; ${run.readAgain}`,
  ].join(' ')
}

function rowsOf(name: string, run: Replayed, speed: number): Row[] {
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
    plain(`${name}, ${AT} transcoders: slowest chunk, of the median`, `${skewOf(run).toFixed(2)} ×`),
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
