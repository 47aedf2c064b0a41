// In charge of: one chaos run: a real job on the real service, whose source is held back until a process was killed or
// frozen, and the checks afterwards.
// Not in charge of: how many runs, what is printed (main.ts), kills between the steps of a commit (commitKills.ts).
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { PublicStatus } from '#contract/api/status.ts'
import { isAlive } from '../../../scripts/local/processes/processGroup.ts'
import { Random } from '../../support/seededRandom.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../support/media/media.ts'
import { PausableFileServer } from '../../support/http/pausableFileServer.ts'
import { jobRequest, Service, waitFor } from '../../support/service.ts'
import { listSegments } from '../../support/manifests/playlistSegments.ts'
import { findUncleaned } from './cleanupCheck.ts'
import { JOB_KINDS, jobBodyOf, type JobKind } from './jobKinds.ts'

export const FAULTS = [
  'SIGKILL transcoder',
  'SIGTERM transcoder',
  'freeze transcoder until another attempt runs',
  'SIGKILL ffmpeg',
  'SIGKILL runtime',
  'SIGKILL worker process',
] as const

export interface KillScenario {
  seed: number
  kind: JobKind
  blow: (typeof FAULTS)[number]
  /** Fraction of the source that the job can read before the kill. 0 = the job is about to probe it. */
  fraction: number
}

export interface KillResult extends KillScenario {
  /** The job was running when the process was killed. */
  hit: boolean
  seconds: number
  wrong: string[]
}

const SECONDS = 12
const RATE = 25
const REMAINS_MS = 60_000

/** Kinds and kills alternate, so that 18 consecutive seeds cover all pairs; the seed decides how far the job is. */
export function killScenario(seed: number): KillScenario {
  const random = new Random(seed)
  const blow = FAULTS[seed % FAULTS.length]!
  const kind = JOB_KINDS[(seed + Math.floor(seed / FAULTS.length)) % JOB_KINDS.length]!
  // ffmpeg runs from the first frames on.
  const isEarly = random.chance(0.25) && blow !== 'SIGKILL ffmpeg'
  return { seed, kind, blow, fraction: isEarly ? 0 : random.whole(20, 95) / 100 }
}

export class KillTestBench {
  readonly #service: Service
  readonly #space: Awaited<ReturnType<typeof tempDirectory>>
  readonly #media: PausableFileServer

  private constructor(service: Service, space: Awaited<ReturnType<typeof tempDirectory>>, media: PausableFileServer) {
    this.#service = service
    this.#space = space
    this.#media = media
  }

  static async open(): Promise<KillTestBench> {
    const tempDir = await tempDirectory()
    const clip = await makeClip(tempDir.file('clip.mp4'), {
      seconds: SECONDS,
      // A codec without captions, so that the encoder is the first to read the held part of the source.
      flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
    })
    const media = await PausableFileServer.start(clip)
    // Two, so that an attempt can run while an earlier one is frozen.
    return new KillTestBench(await Service.start({ ALLOW_PRIVATE_HOSTS: media.host, TRANSCODERS: '2' }), tempDir, media)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    await this.#media[Symbol.asyncDispose]()
    await this.#space[Symbol.asyncDispose]()
  }

  async run(blow: KillScenario): Promise<KillResult> {
    const began = performance.now()
    const service = this.#service
    const media = this.#media
    await waitFor(
      'the service to be whole',
      async () => service.transcoders().length === 2 && (await service.isServing()),
    )
    media.pauseAt(blow.fraction)
    const { requests } = media
    const paths = { bucket_output_path: 'show', ...jobBodyOf(blow.kind) }
    const id = await service.create(jobRequest(media.url, 'http', blow.kind === 'file' ? {} : paths))
    if (blow.fraction > 0)
      // Not by its progress: an encoder that has read all available input may pause before its first report.
      await waitFor(
        'the encoder to wait for its source',
        async () => media.waitForRequest > 0 && (await service.status(id))?.phase === 'transcoding',
      )
    else
      await waitFor(
        'the job to ask for its source',
        async () => media.requests > requests && (await this.#runs(id)) === 1,
      )
    const hit = (await service.status(id))?.job_completed === false
    await this.#strike(blow.blow, id)
    media.resume()
    await waitFor('the service to serve', () => service.isServing())
    const status = await service.waitForEnd(id, 180_000)
    const wrong: string[] = []
    try {
      if (status.state !== 'ready' || status.error) wrong.push(`ended ${status.state}: ${JSON.stringify(status.error)}`)
      else wrong.push(...(await this.#outputs(status, blow.kind)))
      wrong.push(...(await findUncleaned(service, [status.job_id], REMAINS_MS)))
    } catch (error) {
      wrong.push(String(error))
    }
    const again = await waitFor('the status', () => service.status(id))
    if (again.state !== status.state) wrong.push(`it was ${status.state} and is ${again.state}`)
    return { ...blow, hit, seconds: (performance.now() - began) / 1000, wrong }
  }

  /** Number of attempts started. */
  async #runs(id: number): Promise<number> {
    const events = await this.#service.events(id).catch(() => [])
    return events.filter(({ type }) => type === 'attempt.started').length
  }

  async #strike(blow: KillScenario['blow'], id: number): Promise<void> {
    const victim = await this.#victim(blow)
    if (victim === undefined) throw new Error(`there is nothing to strike: ${blow}`)
    if (blow.startsWith('SIGKILL')) {
      process.kill(victim, 'SIGKILL')
      await waitFor('it to be gone', () => !isAlive(victim))
    } else if (blow.startsWith('SIGTERM')) process.kill(victim, 'SIGTERM')
    else {
      process.kill(victim, 'SIGSTOP')
      try {
        await waitFor('another attempt to run', async () => (await this.#runs(id)) > 1)
      } finally {
        process.kill(victim, 'SIGCONT')
      }
    }
  }

  async #victim(blow: KillScenario['blow']): Promise<number | undefined> {
    const service = this.#service
    if (blow === 'SIGKILL runtime') return service.runtime()?.pid
    if (blow === 'SIGKILL worker process') return service.worker()?.pid
    if (blow === 'SIGKILL ffmpeg') return service.encoders()[0]?.pid
    // The transcoder that has the job: work directories contain the process id of their owner.
    const owners = (await service.workDirEntries()).map((name) => Number(/^splicepoint-(\d+)-/.exec(name)?.[1]))
    return service.transcoders().find(({ pid }) => owners.includes(pid))?.pid
  }

  /** Checks that everything listed exists as described; frames are counted. */
  async #outputs(status: PublicStatus, kind: KillScenario['kind']): Promise<string[]> {
    const wrong: string[] = []
    for (const { path, url, size, sha256 } of status.outputs) {
      const bytes = await fetched(url ?? '')
      if (bytes?.length !== size || hashOf(bytes) !== sha256) wrong.push(`${path} is not what was recorded`)
    }
    if (kind === 'file') {
      const file = this.#space.file('out.mp4')
      await writeFile(file, (await fetched(status.outputs[0]?.url ?? '')) ?? '')
      if ((await decodeFrames(file)).length !== SECONDS * RATE)
        wrong.push(`${(await decodeFrames(file)).length} frames`)
      return wrong
    }
    for (const playlist of status.outputs.filter(({ path }) => path.endsWith('/playlist.m3u8'))) {
      const parts: Buffer[] = []
      for (const { uri, range } of listSegments(((await fetched(playlist.url ?? '')) ?? '').toString())) {
        const bytes = await fetched(new URL(uri, playlist.url ?? '').href)
        if (bytes === null) wrong.push(`${playlist.path} points at ${uri}, which is not there`)
        else parts.push(range === null ? bytes : bytes.subarray(range.offset, range.offset + range.bytes))
      }
      if (playlist.path.includes('audio')) continue
      const file = this.#space.file('joined.mp4')
      await writeFile(file, Buffer.concat(parts))
      const count = (await decodeFrames(file)).length
      if (count !== SECONDS * RATE) wrong.push(`${playlist.path}: ${count} frames`)
    }
    const report = status.outputs.find(({ path }) => path.endsWith('/job.json'))
    const { objects } = JSON.parse(((await fetched(report?.url ?? '')) ?? '{"objects":[]}').toString()) as {
      objects: { path: string; size: number; sha256: string }[]
    }
    if (objects.length === 0) wrong.push('job.json lists nothing')
    for (const { path, size, sha256 } of objects) {
      const bytes = await fetched(new URL(path.replace(/^show\//, ''), report?.url ?? '').href)
      if (bytes?.length !== size || hashOf(bytes) !== sha256) wrong.push(`${path} is not what job.json says`)
    }
    return wrong
  }
}

async function fetched(url: string): Promise<Buffer | null> {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  return response.status === 200 ? bytes : null
}

function hashOf(bytes: Buffer | null): string {
  return createHash('sha256')
    .update(bytes ?? '')
    .digest('hex')
}
