// In charge of: what the tasks of a divided film cost: CPU times of a shorter job, and the assumptions with which they become
// the durations of tasks of a film.
// Not in charge of: replaying them (test/simulation/replay.ts).
import type { PartCost, TaskCosts } from '../../test/simulation/measuredTranscoder.ts'
import { Random } from '../../test/support/seededRandom.ts'
import { taperedShares } from '../../transcoder/plan/division/chunkShares.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'

/**
 * CPU seconds of the transcoder and its ffmpeg for 31 chunks of 10 s, one after the other, of a 1080p film in four rungs
 * (1080p 5000, 720p 2800, 480p 1400, 360p 800 kbps, h.264, qvbr), HLS and DASH. It was put together from seven clips, live
 * action, animation, broadcast and captions, at different crops. Each includes the start of its task. Only their sum was
 * measured: the CPU time of the service was read every 5 s, and divided where it grew least, where one task follows another.
 */
const CHUNK_CPU = [
  [20.17, 22.49, 6.52, 18.12, 18.96, 14.96, 21.65, 20.63],
  [17.85, 21.08, 6.99, 18.11, 17.52, 14.56, 23.24, 17.45],
  [19.16, 19.42, 6.82, 19.12, 18.95, 14.11, 23.95, 18.23],
  [20.63, 21.74, 7.42, 14.78, 19.68, 14.79, 24.11],
].flat()
const MEASURED_SECONDS = 10
/** Of the same job, found alike: its first attempt without samples; the rest (stereo AAC of 330 s). */
const SURVEY_CPU = 3.6
const REST_CPU = { seconds: 330, cpu: 8.4 }
/** Assumed: the last attempt took about a second for 34 parts. */
const ASSEMBLY_CPU = { fixed: 1, ofPart: 0.015 }

const CORES = 4
/** Share of the cores that an encode keeps busy: 47.4 s of CPU in 25.6 s on two (docs/performance.md, Ladder). */
const BUSY = 0.92
/** Seconds from the acceptance of a task until it asks for its work. */
const START_SECONDS = 1
const SEGMENT_SECONDS = 6
const RUNGS = 4
/** As many as there are equal chunks. */
const STRETCHES = 58
const ROUNDING = 1e-6
const MANIFESTS = 8

/** As in transcoder/plan/division/: automaticDivision.ts, planDivision.ts, rateSampling.ts, surveyPlan.ts. */
const ENCODING_SECONDS = 60
const LEAST_LAST_SECONDS = 15
/** Of at most 120 places, with those that are encoded again; each with a GOP before it. */
const SAMPLES = { encodes: 150, seconds: 4 }
const SURVEY_PARTS = { seconds: 20, most: 16 }

/** `main`: the first attempt takes the samples; `parts`: parts do; `none`: none are needed. */
export type Survey = 'main' | 'parts' | 'none'

export const FILM = {
  seconds: 7200,
  assumptions: [
    `a film of two hours at 1080p25, four rungs, segments of ${SEGMENT_SECONDS} s; transcoders with ${CORES} cores of the measured kind, ${BUSY * 100} % of them busy`,
    `the film has ${STRETCHES} stretches; each costs as much as a measured chunk, drawn at random: two minutes are as difficult as those ${MEASURED_SECONDS} s were, which is a wider spread than a film has`,
    `a task starts ${START_SECONDS} s after it was accepted; a request takes 0 to 40 ms; nothing fails; all transcoders are free and stay`,
    `${SAMPLES.encodes} samples of ${SAMPLES.seconds} s, by the first attempt or by at most ${SURVEY_PARTS.most} parts; reading the source is as fast as it was locally`,
  ],
}

const wall = (cpu: number): number => cpu / (CORES * BUSY)
const meanRate = CHUNK_CPU.reduce((sum, cpu) => sum + cpu, 0) / CHUNK_CPU.length / MEASURED_SECONDS

/** CPU seconds of each second of a stretch. The last is drawn first. */
function drawnRates(): number[] {
  const random = new Random(1)
  const [last, ...others] = Array.from(
    { length: STRETCHES },
    () => CHUNK_CPU[random.whole(0, CHUNK_CPU.length - 1)]! / MEASURED_SECONDS,
  )
  return [...others, last!]
}

/** CPU seconds of the film up to there. */
function cpuUntil(rates: readonly number[], seconds: number): number {
  const stretch = FILM.seconds / rates.length
  return rates.reduce((sum, rate, at) => sum + rate * Math.min(stretch, Math.max(0, seconds - at * stretch)), 0)
}

/**
 * `slots`: how many the division counts on.
 * @param chunkSeconds chunks of this length; without it, as jobs are divided unasked
 */
export function filmCosts(survey: Survey, slots: number, chunkSeconds?: number): TaskCosts {
  const rates = drawnRates()
  const most = (chunkSeconds ?? ENCODING_SECONDS / wall(meanRate)) / SEGMENT_SECONDS
  const least = LEAST_LAST_SECONDS / SEGMENT_SECONDS
  const tapered = { most, least, slots: chunkSeconds === undefined ? slots : 1 }
  const shares = taperedShares(FILM.seconds / SEGMENT_SECONDS - ROUNDING, tapered, MAX_JOB_PARTS - 1)
  let end = 0
  const chunks = shares.map((share): PartCost => {
    const seconds = share * SEGMENT_SECONDS
    const before = cpuUntil(rates, end)
    end += seconds
    return { seconds: wall(cpuUntil(rates, end) - before), objects: Math.ceil(share) * RUNGS, videoSeconds: seconds }
  })
  const rest = {
    // One encoder of sound uses one core.
    seconds: (FILM.seconds / REST_CPU.seconds) * REST_CPU.cpu,
    objects: FILM.seconds / SEGMENT_SECONDS,
    videoSeconds: 0,
  }
  const sampling = wall(SAMPLES.encodes * SAMPLES.seconds * meanRate)
  const surveyParts = survey === 'parts' ? Math.min(SURVEY_PARTS.most, Math.ceil(sampling / SURVEY_PARTS.seconds)) : 0
  return {
    start: START_SECONDS,
    survey: SURVEY_CPU + (survey === 'main' ? sampling : 0),
    surveys: Array.from({ length: surveyParts }, () => sampling / surveyParts),
    parts: [chunks.at(-1)!, rest, ...chunks.slice(0, -1)],
    assembly: ASSEMBLY_CPU.fixed + ASSEMBLY_CPU.ofPart * (chunks.length + 1),
    manifests: MANIFESTS,
  }
}
