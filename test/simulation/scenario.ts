// In charge of: what a seed stands for: the number and kinds of jobs, and the probabilities of faults.
// Not in charge of: the exact time of each fault.
import type { TaskKind } from '#contract/task/lifecycle.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import type { Random } from '../support/seededRandom.ts'

export interface JobShape {
  kind: TaskKind
  account: string
  createdAt: number
  deadlineAt: number
  /** null = never cancelled. */
  cancelAt: number | null
  /** Single files, stored in parts. */
  files: number
  /** Segments of each media playlist; 0 playlists = not segmented. */
  playlists: number
  segments: number
  /** Tasks that a divided job is made by, each with so many segments and steps; 0 = one task makes it. */
  parts: number
  /** Parts that survey the source before: 0 = the first attempt does it. */
  surveys: number
  /** What the parts of the job stored does not fit together: the last attempt makes all of it. */
  unlike: boolean
  /** The part whose encode ends as `outcome` says; the others end well. */
  failing: number
  /** Steps of the encode, and how long each takes in milliseconds. */
  steps: number
  stepMs: number
  /** How the encode ends. */
  outcome: 'well' | 'permanent' | 'passing'
  /** It makes its transcoder end at this share of the work, in each attempt so much later; null = it does not. */
  poison: { kind: 'kill' | 'stop'; share: number; later: number } | null
}

/** Probabilities, unless a name says otherwise. */
export interface Scenario {
  jobs: JobShape[]
  /** The protocol that each transcoder supports; an older one refuses every task. */
  protocols: number[]
  /** How many of them, the last ones, take dry runs alone. */
  dryRunSlots: number
  /** The build of each transcoder's ffmpeg. */
  builds: string[]
  /** How many times as long each takes to encode. */
  slowness: number[]
  /** A transcoder that starts again has a newer build. */
  isRollout: boolean
  faultsUntil: number
  loss: number
  /** Number of deliveries of each queue message. */
  duplicates: number
  /** Number of sends of each post. */
  posts: number
  crash: number
  pause: number
  evict: number
  /** Starts that are accepted, and whose transcoder never asks for its task. */
  hang: number
  /** A client polls the status every few seconds, which keeps the monitor in memory. */
  isPolled: boolean
  storeFails: number
  commitFails: number
  /** Restarts, freezes and graceful stops of transcoders, in milliseconds since the start. */
  processFaults: { at: number; k: number; kind: 'kill' | 'freeze' | 'stop' }[]
}

const MINUTE = 60_000
/** Of ffmpeg. */
export const OLD_BUILD = 'old'
export const NEW_BUILD = 'new'

/** @param more, late further sequences, for what was added later: the seeds keep what they stood for */
export function scenarioOf(random: Random, more: Random, late: Random): Scenario {
  const level = (...choices: number[]): number => choices[random.whole(0, choices.length - 1)]!
  const faultsUntil = random.whole(1, 12) * MINUTE
  const protocols = Array.from({ length: random.whole(1, 3) }, () =>
    random.chance(0.25) ? TASK_PROTOCOL - 1 : TASK_PROTOCOL,
  )
  // A rollout ends with at least one new transcoder.
  if (!protocols.includes(TASK_PROTOCOL)) protocols.push(TASK_PROTOCOL)
  const hang = more.chance(0.5) ? 0.3 : 0
  const poisoned = more.chance(0.15) ? poisonedJob(more) : {}
  // Some transcoders are slow, and a job has enough chunks to tell.
  const isUneven = late.chance(0.3)
  if (isUneven) while (protocols.length < 3) protocols.push(TASK_PROTOCOL)
  const slowness = protocols.map(() => (isUneven && late.chance(0.5) ? late.whole(3, 30) : 1))
  const drawn = more.chance(0.4) ? Array.from({ length: 4 }, () => division(more)) : []
  const divisions = isUneven ? Array.from({ length: 4 }, () => ({ ...division(late), parts: late.whole(5, 9) })) : drawn
  const unlike = divisions.map(() => more.chance(0.2))
  const isRollout = divisions.length > 0 && more.chance(0.4)
  const builds = protocols.map(() => (isRollout && more.chance(0.3) ? NEW_BUILD : OLD_BUILD))
  return {
    protocols,
    builds,
    slowness,
    isRollout,
    faultsUntil,
    loss: level(0, 0.02, 0.15),
    duplicates: level(1, 2, 5),
    posts: level(1, 1, 3),
    crash: level(0, 0.02, 0.15),
    pause: level(0, 0.01, 0.05),
    evict: level(0, 0.02, 0.2),
    hang,
    isPolled: random.chance(0.5),
    storeFails: level(0, 0.02, 0.2),
    commitFails: level(0, 0, 0.1),
    jobs: Array.from({ length: random.whole(1, 4) }, () => jobOf(random, faultsUntil)).map((job, n) =>
      divided(
        { ...job, ...(isUneven ? chunkWork(late) : {}), ...(n === 0 ? poisoned : {}), unlike: unlike[n] ?? false },
        divisions[n],
      ),
    ),
    processFaults: Array.from({ length: random.whole(0, 6) }, () => ({
      at: random.whole(0, faultsUntil),
      k: random.whole(0, protocols.length - 1),
      kind: (['kill', 'freeze', 'freeze', 'stop'] as const)[random.whole(0, 3)]!,
    })),
    // Another one takes everything.
    dryRunSlots: late.chance(0.4) && protocols.slice(0, -1).includes(TASK_PROTOCOL) ? 1 : 0,
  }
}

function jobOf(random: Random, faultsUntil: number): JobShape {
  const createdAt = random.whole(0, Math.floor(faultsUntil / 2))
  const segmented = random.chance(0.5)
  return {
    kind: random.chance(0.2) ? 'plan' : 'transcode',
    account: `account${random.whole(0, 1)}`,
    createdAt,
    deadlineAt: createdAt + (random.chance(0.2) ? random.whole(1, 3) : 40) * MINUTE,
    cancelAt: random.chance(0.35) ? createdAt + random.whole(0, random.chance(0.5) ? 30_000 : faultsUntil) : null,
    files: segmented ? random.whole(0, 1) : random.whole(1, 3),
    playlists: segmented ? random.whole(1, 2) : 0,
    segments: random.whole(1, 3),
    steps: random.whole(1, 6),
    stepMs: random.whole(200, 8000),
    outcome: random.chance(0.85) ? 'well' : random.chance(0.5) ? 'permanent' : 'passing',
    poison: null,
    parts: 0,
    surveys: 0,
    unlike: false,
    failing: 0,
  }
}

type Division = Pick<JobShape, 'parts' | 'surveys' | 'failing'>

function division(random: Random): Division {
  const parts = random.chance(0.2) ? 0 : random.whole(2, 6)
  const surveys = parts > 0 && random.chance(0.5) ? random.whole(2, 4) : 0
  return { parts, surveys, failing: random.whole(0, Math.max(0, surveys + parts - 1)) }
}

/** Long enough for some reports. */
function chunkWork(random: Random): Pick<JobShape, 'steps' | 'stepMs'> {
  return { steps: random.whole(3, 6), stepMs: random.whole(2000, 8000) }
}

/** Only a segmented job is divided. */
function divided(job: JobShape, division: Division = { parts: 0, surveys: 0, failing: 0 }): JobShape {
  if (job.kind === 'plan' || division.parts === 0) return job
  return { ...job, ...division, playlists: Math.max(1, job.playlists) }
}

function poisonedJob(random: Random): Partial<JobShape> {
  const kind = random.chance(0.3) ? 'stop' : 'kill'
  const later = [0, 0.05, 0.1, 0.15, 0.3][random.whole(0, 4)]!
  const poison = { kind, share: random.next(), later } as const
  return { kind: 'transcode', cancelAt: null, steps: 20, stepMs: random.whole(200, 2000), outcome: 'well', poison }
}

/**
 * Four jobs that succeed without faults, but everything arrives several times: messages five times, posts three times.
 */
export function repeated(random: Random): Scenario {
  const calm = {
    loss: 0,
    crash: 0,
    pause: 0,
    evict: 0,
    hang: 0,
    isPolled: true,
    storeFails: 0,
    commitFails: 0,
    dryRunSlots: 0,
    processFaults: [],
  }
  const jobs = Array.from({ length: 4 }, (): JobShape => ({
    ...jobOf(random, 0),
    deadlineAt: 40 * MINUTE,
    cancelAt: null,
    outcome: 'well',
  }))
  return {
    ...calm,
    jobs,
    protocols: [TASK_PROTOCOL, TASK_PROTOCOL],
    builds: [OLD_BUILD, OLD_BUILD],
    slowness: [1, 1],
    isRollout: false,
    faultsUntil: 0,
    duplicates: 5,
    posts: 3,
  }
}
