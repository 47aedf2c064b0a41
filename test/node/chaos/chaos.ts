// In charge of: one run of chaos: a real job on the real service, one process ended at a seeded moment, and what is true
// afterwards.
// Not in charge of: how many runs, what is printed (main.ts).
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { PublicStatus } from '../../../worker/contract/status.ts'
import { childrenOf, isAlive } from '../../../scripts/local/processes.ts'
import { Random } from '../../simulation/random.ts'
import { frames, makeClip, workspace } from '../media.ts'
import { jobOf, Service, until } from '../service/service.ts'
import { segmentsOf } from '../transcoder/playlist.ts'

export const KINDS = ['file', 'segmented', 'tar'] as const
export const BLOWS = [
  'SIGKILL transcoder',
  'SIGTERM transcoder',
  'freeze transcoder beyond its lease',
  'SIGKILL runtime',
  'SIGKILL worker process',
] as const
/** Where the job stands when the blow falls: what its status says, or what the Worker's log says of its task. */
export const POINTS = ['starting', 'transcoding', 'uploading', 'finish', 'committing'] as const

export interface Blow {
  seed: number
  kind: (typeof KINDS)[number]
  blow: (typeof BLOWS)[number]
  point: (typeof POINTS)[number]
  /** After the point was seen, in milliseconds. */
  delayMs: number
}

export interface Result extends Blow {
  /** The point was seen before the job had ended. */
  hit: boolean
  seconds: number
  wrong: string[]
}

const SECONDS = 30
const RATE = 25
const LEASE_MS = 3000

/** Kinds and blows take turns, so that few runs already meet all of them; the moment is the seed's. */
export function blowOf(seed: number): Blow {
  const random = new Random(seed)
  const point = POINTS[random.whole(0, POINTS.length - 1)]!
  return {
    seed,
    kind: KINDS[seed % KINDS.length]!,
    blow: BLOWS[seed % BLOWS.length]!,
    point,
    // What comes behind the encode is over soon.
    delayMs: random.whole(0, point === 'starting' || point === 'transcoding' ? 1000 : 60),
  }
}

export class Lab {
  readonly #service: Service
  readonly #space: Awaited<ReturnType<typeof workspace>>
  readonly #input: string

  private constructor(service: Service, space: Awaited<ReturnType<typeof workspace>>, input: string) {
    this.#service = service
    this.#space = space
    this.#input = input
  }

  static async open(): Promise<Lab> {
    const space = await workspace()
    const clip = await makeClip(space.file('clip.mp4'), {
      seconds: SECONDS,
      flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
    })
    const service = await Service.start({ LEASE_SECONDS: String(LEASE_MS / 1000) })
    return new Lab(service, space, await service.upload(clip))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    await this.#space[Symbol.asyncDispose]()
  }

  async run(blow: Blow): Promise<Result> {
    const began = performance.now()
    const service = this.#service
    await until('the service to be whole', async () => service.transcoder() && (await isServing(service)))
    const said = (await this.#log('worker')).length
    const id = await service.create(jobOf(this.#input, 'file-upload', shapeOf(blow.kind)))
    const hit = await this.#waitFor(blow.point, id, said)
    await pause(blow.delayMs)
    await this.#strike(blow.blow)
    await until('the service to serve', () => isServing(service))
    const status = await service.ended(id, 180_000)
    const wrong: string[] = []
    try {
      if (status.state !== 'ready' || status.error) wrong.push(`ended ${status.state}: ${JSON.stringify(status.error)}`)
      else wrong.push(...(await this.#outputs(status, blow.kind)))
      wrong.push(...(await this.#leftOver(status)))
    } catch (error) {
      wrong.push(String(error))
    }
    const again = await until('the status', () => service.status(id))
    if (again.state !== status.state) wrong.push(`it was ${status.state} and is ${again.state}`)
    return { ...blow, hit, seconds: (performance.now() - began) / 1000, wrong }
  }

  /** @returns false when the job ended before */
  async #waitFor(point: Blow['point'], id: number, said: number): Promise<boolean> {
    const service = this.#service
    for (;;) {
      const status = await service.status(id)
      if (status?.job_completed) return false
      const { phase } = status ?? {}
      if (point === 'finish' ? (await this.#log('worker')).slice(said).includes('"msg":"finish"') : phase === point)
        return true
      if (point === 'starting' && phase !== 'queued' && phase !== undefined) return true
      await pause(5)
    }
  }

  /** What it says of each of its transitions is written for people; here it is a way to see from outside how far it is. */
  #log(name: string): Promise<string> {
    return readFile(join(this.#service.stateDir, 'logs', `${name}.log`), 'utf8')
  }

  async #strike(blow: Blow['blow']): Promise<void> {
    const service = this.#service
    const victim = blow.includes('transcoder')
      ? service.transcoder()?.pid
      : blow === 'SIGKILL runtime'
        ? this.#runtime()
        : service.worker()?.pid
    if (victim === undefined) throw new Error(`there is nothing to strike: ${blow}`)
    if (blow.startsWith('SIGKILL')) {
      process.kill(victim, 'SIGKILL')
      await until('it to be gone', () => !isAlive(victim))
    } else if (blow.startsWith('SIGTERM')) process.kill(victim, 'SIGTERM')
    else {
      process.kill(victim, 'SIGSTOP')
      await pause(LEASE_MS * 2)
      process.kill(victim, 'SIGCONT')
    }
  }

  /** The workerd that runs our code: the other one holds the public port. */
  #runtime(): number | undefined {
    const port = new URL(this.#service.base).port
    const host = this.#service.worker()?.pid
    const all = host === undefined ? [] : childrenOf(host).filter(({ program }) => program === 'workerd')
    return all.find(({ argv }) => !argv.some((part) => part.endsWith(`:${port}`)))?.pid
  }

  /** Everything that is listed is there, as it is described; pictures are counted. */
  async #outputs(status: PublicStatus, kind: Blow['kind']): Promise<string[]> {
    const wrong: string[] = []
    for (const { path, url, size, sha256 } of status.outputs) {
      const bytes = await fetched(url ?? '')
      if (bytes?.length !== size || hashOf(bytes) !== sha256) wrong.push(`${path} is not what was recorded`)
    }
    if (kind === 'file') {
      const file = this.#space.file('out.mp4')
      await writeFile(file, (await fetched(status.outputs[0]?.url ?? '')) ?? '')
      if ((await frames(file)).length !== SECONDS * RATE) wrong.push(`${(await frames(file)).length} frames`)
      return wrong
    }
    for (const playlist of status.outputs.filter(({ path }) => path.endsWith('/playlist.m3u8'))) {
      const parts: Buffer[] = []
      for (const { uri, range } of segmentsOf(((await fetched(playlist.url ?? '')) ?? '').toString())) {
        const bytes = await fetched(new URL(uri, playlist.url ?? '').href)
        if (bytes === null) wrong.push(`${playlist.path} points at ${uri}, which is not there`)
        else parts.push(range === null ? bytes : bytes.subarray(range.offset, range.offset + range.bytes))
      }
      if (playlist.path.includes('audio')) continue
      const file = this.#space.file('joined.mp4')
      await writeFile(file, Buffer.concat(parts))
      const count = (await frames(file)).length
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

  /** No ffmpeg, no scratch file, no open upload, no record, within what is promised (I8: five minutes). */
  async #leftOver({ job_id: jobId }: PublicStatus): Promise<string[]> {
    const wrong: string[] = []
    const service = this.#service
    const soon = async (what: string, ask: () => boolean | Promise<boolean>): Promise<void> => {
      await until(what, ask, 30_000).catch(() => wrong.push(`still there: ${what}`))
    }
    await soon('an encoder', () => service.encoders().length === 0)
    await soon('a scratch file', async () => (await service.leftOver()).length === 0)
    await soon('an open upload', async () => (await rows(service, OPEN_UPLOADS)).length === 0)
    await soon('a record', async () => (await rows(service, OBJECTS)).every((key) => !key.startsWith(`work/${jobId}`)))
    return wrong
  }
}

const OPEN_UPLOADS = 'SELECT key FROM _mf_multipart_uploads WHERE state = 0'
const OBJECTS = 'SELECT key FROM _mf_objects'

/** What the local R2 has on disk: its own tables, read from outside. */
async function rows(service: Service, sql: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir(service.stateDir, { recursive: true })) {
    if (!/\br2\b.*\.sqlite$/.test(name) || name.includes('metadata')) continue
    const db = new DatabaseSync(join(service.stateDir, name), { readOnly: true })
    try {
      found.push(
        ...db
          .prepare(sql)
          .all()
          .map((row) => String(row['key'])),
      )
    } finally {
      db.close()
    }
  }
  return found
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

function isServing(service: Service): Promise<boolean> {
  return fetch(`${service.base}/health`).then(
    (response) => response.status === 200,
    () => false,
  )
}

function shapeOf(kind: Blow['kind']): object {
  if (kind === 'file') return {}
  return {
    bucket_output_path: 'show',
    segment_length: 2,
    gop_length: 1,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    create_tar_file: kind === 'tar',
    videoProfiles: [
      { output: '', width: 320, height: 180, video_bitrate: 400 },
      { output: 'low', width: 160, height: 90, video_bitrate: 150 },
    ],
  }
}
