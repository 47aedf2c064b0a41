// In charge of: real jobs whose store is held at chosen steps of their commits, killing real processes meanwhile, and
// checking each job afterwards.
// Not in charge of: which steps, how many, what is printed (main.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from '../../../scripts/local/processes/processGroup.ts'
import { S3Server } from '../../fakes/s3Server.ts'
import { Random } from '../../support/seededRandom.ts'
import { makeClip, tempDirectory } from '../../support/media/media.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../support/service.ts'
import { StoreGate, phasesOfStep, type GatePoint } from './storeGate.ts'
import { findUncleaned } from './cleanupCheck.ts'
import { JOB_KINDS, jobBodyOf, type JobKind } from './jobKinds.ts'
import { danglingReferences, storageDifferences } from './outputCheck.ts'

/** What SIGKILL ends. Without the transcoder, only the record knows what is to be committed. */
export const KILLED_PROCESSES = ['runtime', 'transcoder', 'runtime and transcoder'] as const
export type KilledProcess = (typeof KILLED_PROCESSES)[number]

export interface KillPoint extends GatePoint {
  kind: JobKind
  /** The last write of the attempt before it reports that it has finished: it may have to be repeated. */
  isBefore: boolean
}

export interface KillOutcome extends KillPoint {
  victim: KilledProcess
  /** The job was held at this step when the process was killed. */
  hit: boolean
  wrong: string[]
}

const KEYS = { accessKey: 'AKIACHAOS7EXAMPLE', secretKey: 'chaos+secret/key' }
const BUCKET = 'films'
/** For the phase `answered`: the process is killed within that many milliseconds of the answer. */
const MOMENT_MS = 40
/** Clean-up after the end of a job has happened by then. */
const TAIL_MS = 5000
const TRIES = 3
/** More than the two minutes after which late writes are removed, less than the five that are promised (I8). */
const REMAINS_MS = 200_000

/** All kill points in the steps of an undisturbed job. */
export function killPoints(kind: JobKind, steps: readonly string[], victim: KilledProcess): KillPoint[] {
  return steps.flatMap((step, index) =>
    // A store that keeps running finishes a request even if its client is gone.
    (victim === 'transcoder' ? (['unanswered'] as const) : phasesOfStep(step)).map((phase) => ({
      kind,
      step,
      phase,
      isBefore: index === 0,
    })),
  )
}

export class CommitKillBench {
  /** Jobs at a time, each held at a different point when the process is killed. */
  readonly #jobs: number
  readonly #service: Service
  readonly #s3: S3Server
  readonly #space: Awaited<ReturnType<typeof tempDirectory>>
  readonly #input: string
  readonly #gates = new Map<string, StoreGate>()
  readonly #dangling: string[] = []

  private constructor(made: {
    jobs: number
    service: Service
    s3: S3Server
    space: Awaited<ReturnType<typeof tempDirectory>>
    input: string
  }) {
    this.#jobs = made.jobs
    this.#service = made.service
    this.#s3 = made.s3
    this.#space = made.space
    this.#input = made.input
    const gateOf = (line: string): [StoreGate | undefined, string, string] => {
      const [, operation = '', root = '', path = ''] = /^(\w+) \w+\/([^/]*)\/?(.*)$/.exec(line) ?? []
      return [this.#gates.get(root), operation, path]
    }
    made.s3.holdRequest = (line, isOpen) => {
      const [gate, operation, path] = gateOf(line)
      return gate?.hold(operation, path, isOpen) ?? null
    }
    made.s3.holdAnswer = (line) => gateOf(line)[0]?.answer() ?? null
    // Checked at every moment, not only at the end: readers may come at any time.
    made.s3.onWrite = () => {
      const key = made.s3.log.at(-1)?.replace(/^\w+ /, '') ?? ''
      this.#dangling.push(...danglingReferences(made.s3.objects, key))
    }
  }

  /** `root`: a copy of the source. */
  static async open({ jobs = 8, root = ROOT } = {}): Promise<CommitKillBench> {
    const tempDir = await tempDirectory()
    const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 4, flags: ['-movflags', '+faststart'] })
    const s3 = await S3Server.start({ accounts: [KEYS], buckets: [BUCKET] })
    const env = { ALLOW_PRIVATE_HOSTS: s3.host, TRANSCODERS: String(jobs) }
    const service = await Service.start(env, root)
    return new CommitKillBench({ jobs, service, s3, space: tempDir, input: await service.upload(clip) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    await this.#s3[Symbol.asyncDispose]()
    await this.#space[Symbol.asyncDispose]()
  }

  /** The steps of an undisturbed commit, by kind: from the attempt's last write to the last step of the clean-up. */
  async steps(): Promise<Record<JobKind, string[]>> {
    const jobs = await Promise.all(JOB_KINDS.map(async (kind) => this.#submit(kind, null)))
    const found = await Promise.all(
      jobs.map(async ({ gate, id }) => {
        const status = await this.#service.waitForEnd(id)
        const wrong = await this.#check(gate, id, true)
        if (status.state !== 'ready' || wrong.length > 0)
          throw new Error(`undisturbed: ${JSON.stringify({ status, wrong })}`)
        return gate.seen.slice(gate.seen.findLastIndex((step) => /^UploadPart|^PutObject .*attempt-/.test(step)))
      }),
    )
    return Object.fromEntries(JOB_KINDS.map((kind, index) => [kind, found[index]!])) as Record<JobKind, string[]>
  }

  /**
   * Kills processes until all targets were hit; targets at which a job could not be held (a store is waited for 30 s)
   * are repeated.
   */
  async killAtPoints(
    victim: KilledProcess,
    targets: readonly KillPoint[],
    random: Random,
    say: (outcome: KillOutcome) => void = () => undefined,
  ): Promise<KillOutcome[]> {
    const done: KillOutcome[] = []
    let left = [...targets]
    for (let tries = 1; left.length > 0; tries++) {
      const again: KillPoint[] = []
      for (let at = 0; at < left.length; at += this.#jobs) {
        const batch = left.slice(at, at + this.#jobs)
        const outcomes = await this.#strike(victim, batch, random)
        for (const [index, outcome] of outcomes.entries()) {
          say(outcome)
          if (!outcome.hit && tries < TRIES && outcome.wrong.length === 0) again.push(batch[index]!)
          else done.push(outcome)
        }
      }
      left = again
    }
    return done
  }

  /** One kill for as many jobs as there are targets. */
  async #strike(victim: KilledProcess, targets: readonly KillPoint[], random: Random): Promise<KillOutcome[]> {
    const service = this.#service
    await waitFor('the service to be whole', () => this.#isWhole())
    const jobs = await Promise.all(
      targets.map(async (target) => ({ target, ...(await this.#submit(target.kind, target)) })),
    )
    await this.#awaited(jobs)
    const hit = jobs.map(({ gate }) => gate.isHeld)
    for (const { gate } of jobs) gate.beforeKill()
    if (targets.some(({ phase }) => phase === 'answered')) await pause(random.whole(0, MOMENT_MS))
    await this.#blow(victim)
    if (victim === 'transcoder') for (const { gate } of jobs) gate.releaseAll()
    const ended = await Promise.all(jobs.map(({ id }) => service.waitForEnd(id, 180_000).catch(() => null)))
    for (const { gate } of jobs) gate.releaseAll()
    return Promise.all(
      jobs.map(async ({ target, gate, id }, index) => {
        const wrong = ended[index] === null ? ['it has not ended'] : await this.#check(gate, id, !target.isBefore)
        return { ...target, victim, hit: hit[index]!, wrong }
      }),
    )
  }

  /** Waits until each job is held, or has ended without being held, or a store request would time out. */
  async #awaited(jobs: readonly { gate: StoreGate; id: number }[]): Promise<void> {
    const overAt = new Map<number, number>()
    const isThere = async (): Promise<boolean> => {
      const missing = jobs.filter(({ gate }) => !gate.wasReached)
      for (const { id } of missing)
        if (!overAt.has(id) && (await this.#service.status(id))?.job_completed === true) overAt.set(id, Date.now())
      return missing.every(({ id }) => Date.now() > (overAt.get(id) ?? Number.POSITIVE_INFINITY) + TAIL_MS)
    }
    await waitFor('every job to be where it is awaited', isThere).catch(() => undefined)
  }

  async #isWhole(): Promise<boolean> {
    return this.#service.transcoders().length === this.#jobs && (await this.#service.isServing())
  }

  async #blow(victim: KilledProcess): Promise<void> {
    const service = this.#service
    const runtime = service.runtime()?.pid
    const pids = [
      ...(victim === 'runtime' || victim === 'runtime and transcoder' ? [runtime] : []),
      ...(victim === 'runtime' ? [] : service.transcoders().map(({ pid }) => pid)),
    ].filter((pid) => pid !== undefined)
    if (pids.length === 0) throw new Error(`there is nothing to strike: ${victim}`)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await waitFor('it to be gone', () => pids.every((pid) => !isAlive(pid)))
  }

  async #submit(kind: JobKind, point: GatePoint | null): Promise<{ gate: StoreGate; id: number }> {
    const root = `job-${this.#gates.size + 1}`
    const gate = new StoreGate(root, point)
    this.#gates.set(root, gate)
    const output = {
      cloud_provider: 'aws',
      access_key: KEYS.accessKey,
      secret_key: KEYS.secretKey,
      region: 'us-east-1',
      endpoint: `http://${this.#s3.host}`,
    }
    const id = await this.#service.create(
      jobRequest(this.#input, 'file-upload', {
        ...jobBodyOf(kind),
        bucket_output_path: `s3://${BUCKET}/${root}`,
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output },
      }),
    )
    return { gate, id }
  }

  /** Problems of an ended job and of what it left. */
  async #check(gate: StoreGate, id: number, once: boolean): Promise<string[]> {
    const service = this.#service
    const root = `${BUCKET}/${gate.root}`
    const status = await waitFor('the status', () => service.status(id))
    const wrong: string[] = []
    if (status.state !== 'ready' || status.error) wrong.push(`ended ${status.state}: ${JSON.stringify(status.error)}`)
    const timeline = (await service.events(id)).map(({ type }) => type)
    const ends = timeline.filter((type) => ['job.completed', 'job.failed', 'job.cancelled'].includes(type))
    if (ends.length !== 1) wrong.push(`it has ${ends.length} ends: ${timeline.join(', ')}`)
    const attempts = timeline.filter((type) => type === 'attempt.started').length
    if (once && attempts !== 1) wrong.push(`it was encoded ${attempts} times: ${timeline.join(', ')}`)
    wrong.push(...(await findUncleaned(service, [status.job_id], REMAINS_MS)))
    const isDone = (): boolean =>
      ![...this.#s3.uploads.values()].some(({ key }) => key.startsWith(`${gate.root}/`)) &&
      storageDifferences(status, this.#s3.objects, root).length === 0
    // What a failed job leaves stays different.
    const ms = status.state === 'ready' ? REMAINS_MS : 0
    await waitFor('the store to hold the outputs and nothing else', isDone, ms).catch(() => undefined)
    for (const { key } of this.#s3.uploads.values())
      if (key.startsWith(`${gate.root}/`)) wrong.push(`an open upload: ${key}`)
    wrong.push(...storageDifferences(status, this.#s3.objects, root))
    wrong.push(...this.#dangling.filter((sentence) => sentence.startsWith(`${root}/`)))
    const after = await waitFor('the status', () => service.status(id))
    if (after.state !== status.state) wrong.push(`it was ${status.state} and is ${after.state}`)
    return wrong
  }
}
