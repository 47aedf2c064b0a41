// In charge of: the progress of a divided job, from the reports of its parts and how much of the work each of them is.
// Not in charge of: that it never decreases (progressSnapshot.ts), the reports of one attempt (jobMonitor.ts).
import { PARTS_SHARE, samplingShare, type ProgressPost } from '#contract/task/protocol.ts'
import { isSurveying } from '#contract/task/lifecycle.ts'
import { readParts } from '../db/parts.ts'
import type { TaskRow } from '../db/tasks.ts'
import { LAST_CHUNK, REST } from '#contract/task/partPositions.ts'

/** A part that has not reported for this long does not run at the moment. */
const SILENT_MS = 15_000
/** Until this share is done, the time left cannot be told. */
const FIRST_SHARE = 0.02

interface Report extends ProgressPost {
  at: number
}

interface Known {
  /** Parts that had ended when it was read; later ones report their end. */
  completed: ReadonlySet<number>
  /** Where the chunks begin, in segments. */
  begins: readonly number[] | null
  /** What the samples are of the work. */
  sampling: number
}

export class PartsProgress {
  /** By part. */
  readonly #reports = new Map<number, Report>()
  #known: Known | null = null

  /** Takes the report of one part, and returns the progress of the whole job. */
  async update(db: D1Database, main: TaskRow, part: number, post: ProgressPost, now: number): Promise<ProgressPost> {
    this.#reports.set(part, { ...post, at: now })
    // Two reports at once may both read: they find the same.
    const known = this.#known ?? (await readKnown(db, main.id))
    this.#known = known
    const isSurvey = isSurveying(main)
    const first = isSurvey ? 0 : main.survey_parts
    const weights = partWeights(isSurvey ? null : known.begins, main.parts - first)
    const weighted = (index: number, share: number) => share * (weights[index - first] ?? 0)
    const counted = [...this.#reports].filter(([index]) => index >= first)
    const reports = counted.map(([, report]) => report)
    const active = reports.filter(({ at, transcoded }) => now - at < SILENT_MS && transcoded < 1)
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
    const silent = [...known.completed].filter((index) => index >= first && !this.#reports.has(index))
    // Only the parts that are counted now: after a survey, its parts are not.
    const work = [
      ...counted.map(([index, { transcoded: share }]) => weighted(index, share)),
      ...silent.map((index) => weighted(index, 1)),
    ]
    const done = Math.min(1, sum(work) / (main.parts - first))
    const { sampling } = known
    const transcoded = PARTS_SHARE * (isSurvey ? done * sampling : sampling + done * (1 - sampling))
    // The survey tells how fast all parts together are, but not before some of it is done.
    const share = isSurvey ? transcoded : done
    const speeds = active.flatMap(({ speed }) => speed ?? [])
    const seconds = (now - main.updated_at) / 1000
    return {
      phase: isSurvey ? 'sampling' : 'transcoding',
      transcoded,
      transcode_seconds: Math.max(0, seconds),
      speed: speeds.length === 0 ? null : sum(speeds),
      bytes_produced: sum(reports.map((each) => each.bytes_produced)),
      bytes_stored: sum(reports.map((each) => each.bytes_stored)),
      transfer_seconds: Math.max(0, ...reports.map((each) => each.transfer_seconds)),
      eta_seconds: share < FIRST_SHARE ? null : Math.max(0, (seconds * (1 - share)) / share),
    }
  }
}

async function readKnown(db: D1Database, main: string): Promise<Known> {
  const { states, division } = await readParts(db, main)
  return {
    completed: new Set(states.flatMap(({ state }, index) => (state === 'completed' ? [index] : []))),
    begins: division.chunks ?? null,
    sampling: samplingShare(division),
  }
}

/**
 * Weights of parts by position, without the parts of a survey; their sum is the number of parts. `begins`: where each chunk
 * begins, in segments; null = not known, then all parts have the same weight. The end of the last chunk is not known: it is
 * about as long as the chunk before. The rest counts like a chunk.
 */
export function partWeights(begins: readonly number[] | null, parts: number): number[] {
  if (begins === null || begins.length < 2 || begins.length !== parts - 1) return Array.from({ length: parts }, () => 1)
  const lengths = begins.slice(1).map((next, chunk) => next - begins[chunk]!)
  const last = lengths.at(-1)!
  const mean = (begins.at(-1)! + last) / begins.length
  const weights = lengths.map((length) => length / mean)
  weights.splice(LAST_CHUNK, 0, last / mean)
  weights.splice(REST, 0, 1)
  return weights
}
