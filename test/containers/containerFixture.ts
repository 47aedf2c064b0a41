// In charge of: what every file of these tests needs: a deployed service, one source that can be held back and one that
// is served at once, and inspecting jobs.
// Not in charge of: the deployed service itself (deployedService.ts).
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { PublicStatus } from '#contract/api/status.ts'
import { makeClip, tempDirectory } from '../support/media/media.ts'
import { jobRequest, waitFor } from '../support/testClient.ts'
import { PausableFileServer } from '../support/http/pausableFileServer.ts'
import { selectDockerEngine, type Container } from './dockerEngine.ts'
import { DeployedService } from './deployedService.ts'
import { recordTiming } from './timings.ts'

export const MINUTE_MS = 60_000
/** A lost attempt is detected only when its lease ends. */
const END_MS = 4 * MINUTE_MS
const HELD_AT = 0.6

export interface AttemptSummary {
  /** The number of the attempt that completed the job. */
  made: number | null
  lost: number[]
}

/** The expected summary without faults. */
export const FIRST_ATTEMPT: AttemptSummary = { made: 1, lost: [] }

export class ContainerFixture {
  readonly service: DeployedService
  /** Jobs of this source run until `resumeSource`. */
  readonly pausableSource: PausableFileServer
  #isHolding = false
  readonly freeSource: PausableFileServer
  readonly tempDir: Awaited<ReturnType<typeof tempDirectory>>
  private constructor(made: Pick<ContainerFixture, 'service' | 'pausableSource' | 'freeSource' | 'tempDir'>) {
    this.service = made.service
    this.pausableSource = made.pausableSource
    this.freeSource = made.freeSource
    this.tempDir = made.tempDir
  }

  static async open(slots: number, vars: Record<string, string> = {}): Promise<ContainerFixture> {
    const version = await selectDockerEngine()
    const tempDir = await tempDirectory()
    const clip = await makeClip(tempDir.file('clip.mp4'), {
      seconds: 8,
      // No captions in this codec: the first process to read the held part is the encoder.
      flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
    })
    const pausableSource = await PausableFileServer.start(clip)
    const freeSource = await PausableFileServer.start(clip)
    const begun = performance.now()
    const service = await DeployedService.start({
      allowPrivateHosts: `${pausableSource.host},${freeSource.host}`,
      slots,
      vars,
    })
    console.log(`Docker ${version}; wrangler dev ready after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    return new ContainerFixture({ service, pausableSource, freeSource, tempDir })
  }

  /** A small job. */
  create(source: PausableFileServer = this.freeSource, change: object = {}): Promise<number> {
    return this.service.create(jobRequest(source.url, 'http', change))
  }

  pauseSource(): void {
    if (!this.#isHolding) this.pausableSource.pauseAt(HELD_AT)
    this.#isHolding = true
  }

  /** All held jobs continue. */
  resumeSource(): void {
    this.pausableSource.resume()
    this.#isHolding = false
  }

  /** A job whose source is held back after its middle, and the container in which it runs. */
  async startJob(): Promise<{ id: number; container: Container }> {
    const before = new Set((await this.service.busyContainers()).map(({ id }) => id))
    this.pauseSource()
    const id = await this.create(this.pausableSource)
    await this.service.waitForEncoding(id)
    const [runningContainer] = (await this.service.busyContainers()).filter((each) => !before.has(each.id))
    if (runningContainer === undefined) throw new Error(`no container runs job ${id}`)
    return { id, container: runningContainer }
  }

  /** A new container, found by asking Docker and not the service. */
  waitForOtherContainer(known: readonly Container[]): Promise<Container> {
    const find = async (): Promise<Container | null> => {
      const containers = await this.service.containers()
      return containers.find((each) => known.every((old) => old.id !== each.id)) ?? null
    }
    return waitFor('another container', find, 3 * MINUTE_MS)
  }

  /** A job whose container was frozen before its transcoder could call the task API: it does not start by itself. */
  async startAndFreeze(): Promise<{ id: number; container: Container }> {
    for (;;) {
      const before = await this.service.containers()
      this.pauseSource()
      const id = await this.create(this.pausableSource)
      const container = await this.waitForOtherContainer(before)
      await container.freeze()
      const begun = (await this.service.events(id)).some(({ type }) => type === 'attempt.started')
      if (!begun) return { id, container }
      // The transcoder was faster: try again.
      await this.service.cancel(id)
    }
  }

  /** The job succeeded, and everything that it lists exists, byte for byte as reported. */
  async expectComplete(id: number): Promise<PublicStatus> {
    const status = await this.service.waitForEnd(id, END_MS)
    assert.equal(status.state, 'ready', `${JSON.stringify(status.error)}\n${await this.timelineText(id)}`)
    assert(status.outputs.length > 0)
    for (const { url, size, sha256 } of status.outputs) assert.deepEqual(await fingerprint(url!), { size, sha256 })
    const report = status.outputs.find(({ path }) => path.endsWith('job.json'))
    if (report === undefined) return status
    // Including segments, which the status does not list.
    const directory = report.path.replace(/[^/]*$/, '')
    const { objects } = (await (await fetch(report.url!)).json()) as {
      objects: { path: string; size: number; sha256: string }[]
    }
    for (const { path, size, sha256 } of objects) {
      const relative = path.slice(directory.length).split('/').map(encodeURIComponent).join('/')
      assert.deepEqual(await fingerprint(new URL(relative, report.url!)), { size, sha256 })
    }
    return status
  }

  /** The attempts of several jobs run one after the other. Earlier failures must not affect them. */
  async expectNextJobs(count: number): Promise<AttemptSummary[]> {
    const all: AttemptSummary[] = []
    for (let k = 0; k < count; k++) {
      const id = await this.create()
      await this.expectComplete(id)
      all.push(await this.attemptSummary(id))
    }
    return all
  }

  /** Of the main task. */
  async attemptSummary(id: number): Promise<AttemptSummary> {
    const events = await this.service.events(id)
    return {
      made: events.findLast(({ type }) => type === 'job.completed')?.attempt ?? null,
      lost: events.filter(({ type, part }) => type === 'attempt.lost' && part === null).map(({ attempt }) => attempt!),
    }
  }

  /** Milliseconds since 1970 of the first event of this type of a job. */
  async eventTime(id: number, type: string, attempt?: number): Promise<number> {
    const events = await this.service.events(id)
    const found = events.find((event) => event.type === type && (attempt === undefined || event.attempt === attempt))
    if (!found) throw new Error(`job ${id} has no ${type}: ${await this.timelineText(id)}`)
    return Date.parse(found.at)
  }

  /** For the message of a failed test. */
  async timelineText(id: number): Promise<string> {
    const events = await this.service.events(id)
    return events
      .map(({ at, type, attempt, slot, error }) => `${at} ${type} ${attempt} ${slot} ${error?.message ?? ''}`)
      .join('\n')
  }

  /** Time from the creation to the first call of the transcoder. */
  async recordStartTime(what: string, id: number): Promise<void> {
    await recordTiming(what, (await this.eventTime(id, 'attempt.started')) - (await this.eventTime(id, 'job.created')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    for (const media of [this.pausableSource, this.freeSource]) await media[Symbol.asyncDispose]()
    await this.tempDir[Symbol.asyncDispose]()
  }
}

async function fingerprint(url: string | URL): Promise<{ size: number; sha256: string }> {
  const response = await fetch(url)
  assert.equal(response.status, 200, String(url))
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of response.body!) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}
