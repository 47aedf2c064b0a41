// In charge of: the service under test and the resources that requests need: keys, uploads, jobs, an output, a running
// task; and recreating what a request has ended. Texts refer to them by placeholders: `{{job.done}}`.
// Not in charge of: which requests (generators/request.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunRequest } from '#contract/task/protocol.ts'
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { Service, waitFor } from '../../support/service.ts'
import type { Response } from './connection.ts'
import { CANARY } from './generators/exampleBodies.ts'
import { OpenapiDocument } from './apiDocument.ts'
import type { Request } from './generators/request.ts'
import { beginTask, finishTask, StubTranscoder, TRANSCODER_SECRET } from './stubTranscoder.ts'

type Marks = Record<string, string>

const basic = (text: string): string => Buffer.from(text).toString('base64')

export class ServiceUnderTest {
  readonly service: Service
  readonly document: OpenapiDocument
  /** What no answer may contain. */
  readonly secrets: readonly string[]
  readonly #transcoder: StubTranscoder
  readonly #marks: Marks = {}
  /** What must be recreated, by the first part of its placeholder. */
  readonly #stale = new Set<string>()
  #presets = 0

  private constructor(
    service: Service,
    transcoder: StubTranscoder,
    document: OpenapiDocument,
    secrets: readonly string[],
  ) {
    this.service = service
    this.document = document
    this.secrets = secrets
    this.#transcoder = transcoder
  }

  static async open(): Promise<ServiceUnderTest> {
    const transcoder = await StubTranscoder.start()
    const service = await Service.start({
      TRANSCODER_URLS: transcoder.urls.join(','),
      TRANSCODER_SECRET,
      USAGE_PRICES: JSON.stringify({ currency: 'EUR', cpu_hour: 1 }),
      ALLOW_PRIVATE_HOSTS: transcoder.urls.map((url) => new URL(url).host).join(','),
      // The running task sends no heartbeat.
      LEASE_SECONDS: '86400',
    }).catch(async (error: unknown) => {
      await transcoder[Symbol.asyncDispose]()
      throw error
    })
    const stored = JSON.parse(await readFile(join(service.stateDir, 'secrets.json'), 'utf8')) as Marks
    const secrets = [...Object.values(stored), TRANSCODER_SECRET, CANARY]
    const world = new ServiceUnderTest(service, transcoder, await OpenapiDocument.operation(service.base), secrets)
    await world.#furnish()
    return world
  }

  get host(): string {
    return new URL(this.service.base).host
  }

  readonly fill = (text: string): string =>
    text.replaceAll(/\{\{([a-z]+\.[a-z]+)\}\}/g, (mark, name: string) => this.#marks[name] ?? mark)

  async #ask(method: string, path: string, who: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.service.base + path, {
      method,
      headers: {
        authorization: `Basic ${this.#marks[`basic.${who}`]}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

  #know(who: string, key: string): void {
    this.#marks[`key.${who}`] = key
    this.#marks[`basic.${who}`] = basic(`${key}:`)
    this.#marks[`password.${who}`] = basic(`${key}:pass:word`)
  }

  async #issue(who: string, terms: object): Promise<string> {
    const { id, key } = await this.#ask('POST', '/api/v0/keys', 'admin', terms)
    this.#know(who, key)
    this.#marks[`keyid.${who}`] = id
    return id
  }

  async #furnish(): Promise<void> {
    const { api_key, admin_key } = this.service.ready
    this.#know('jobs', api_key)
    this.#know('admin', admin_key)
    await this.#issue('both', { account: 'default', scopes: ['jobs', 'admin'] })
    await this.#issue('other', { account: 'other' })
    const revoked = await this.#issue('revoked', { account: 'default', scopes: ['jobs', 'admin'] })
    await this.#ask('DELETE', `/api/v0/keys/${revoked}`, 'admin')
    const issued = this.#marks['key.both'] ?? ''
    this.#marks['basic.changed'] = basic(`${issued.slice(0, -3)}${issued.endsWith('AAA') ? 'BBB' : 'AAA'}:`)
    this.#marks['basic.id'] = basic(`${issued.split('.')[0]}:`)
    for (const name of ['upload', 'tus', 'preset', 'token', 'keyid', 'other', 'cancelled', 'done', 'active'])
      this.#stale.add(name)
    await this.renew()
  }

  async #upload(who: string): Promise<string> {
    const type = { 'content-type': 'video/mp4' }
    return String((await this.#ask('POST', '/uploads?name=film.mp4', who, 'hello world', type)).uploaded_file_number)
  }

  /** @returns number and backend id */
  async #job(who: string, input: string, more: object = {}): Promise<[number: string, id: string]> {
    const made = await this.#ask('POST', '/api/v0/job', who, {
      input,
      videoProfiles: [{ output: 'video.mp4', width: 320, height: 180, video_bitrate: 400 }],
      audioProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
      ...more,
    })
    return [String(made._auto_generated_id_), made.job_id]
  }

  async #taken(more: object = {}): Promise<{ number: string; run: RunRequest }> {
    const [number, id] = await this.#job('jobs', this.#marks['upload.ready']!, more)
    const run = await this.#transcoder.runOf(id)
    await beginTask(run)
    return { number, run }
  }

  readonly #makers: Record<string, () => Promise<void>> = {
    upload: async () => void (this.#marks['upload.ready'] = await this.#upload('jobs')),
    tus: async () => {
      const headers = { 'tus-resumable': '1.0.0', 'upload-length': '11' }
      this.#marks['upload.tus'] = String(
        (await this.#ask('POST', '/uploads', 'jobs', undefined, headers)).uploaded_file_number,
      )
    },
    token: async () => {
      for (const [mark, who] of [
        ['own', 'jobs'],
        ['other', 'other'],
      ] as const) {
        const { token_id: id, token } = await this.#ask('POST', '/api/v0/uploads/tokens', who, { max_files: 1000 })
        Object.assign(this.#marks, { [`token.${mark}`]: id, [`bearer.${mark}`]: token })
      }
    },
    preset: async () => {
      const job = { videoProfiles: [{ width: 320, height: 180, video_bitrate: 400 }], audioProfiles: [] }
      for (const [mark, who] of [
        ['own', 'jobs'],
        ['other', 'other'],
      ] as const) {
        const preset = { name: `Made for ${mark} ${++this.#presets}`, job }
        this.#marks[`preset.${mark}`] = (await this.#ask('POST', '/api/v0/presets', who, preset)).preset_id
      }
    },
    keyid: async () => void (await this.#issue('spare', { account: 'fuzzed' })),
    other: async () => {
      this.#marks['upload.other'] = await this.#upload('other')
      const [number] = await this.#job('other', this.#marks['upload.other'])
      await this.#ask('POST', `/api/v0/job/${number}/cancel`, 'other')
      this.#marks['job.other'] = number
    },
    cancelled: async () => {
      const [number] = await this.#job('jobs', this.#marks['upload.ready']!)
      await this.#ask('POST', `/api/v0/job/${number}/cancel`, 'jobs')
      this.#marks['job.cancelled'] = number
    },
    done: async () => {
      const { number, run } = await this.#taken({ webhook_url: `${this.#transcoder.urls[0]}/hook` })
      await finishTask(run, 'video.mp4')
      const status = await waitFor('the job to end', async () => {
        const { status } = await this.#ask('GET', `/api/v0/job/${number}`, 'jobs')
        return status.job_completed ? status : null
      })
      const [, , grant, account, job] = new URL(status.outputs[0].url).pathname.split('/')
      Object.assign(this.#marks, { 'output.grant': grant, 'output.account': account, 'output.job': job })
      const [delivery] = (await this.#ask('GET', `/api/v0/job/${number}/webhooks`, 'jobs')).deliveries
      this.#marks['webhook.done'] = delivery.id
      this.#marks['job.done'] = number
    },
    active: async () => {
      const before = this.#marks['job.active']
      if (before !== undefined) await this.#ask('POST', `/api/v0/job/${before}/cancel`, 'jobs').catch(() => null)
      const { number, run } = await this.#taken()
      this.#marks['job.active'] = number
      this.#marks['task.id'] = run.task_id
      this.#marks['task.token'] = run.token
      this.#marks['task.directory'] = attemptDirectory(run.task_id.replace(/-\d+$/, ''), run.attempt)
      this.#marks['basic.token'] = basic(`${run.token}:`)
    },
  }

  /** Recreates what no longer exists. */
  async renew(): Promise<void> {
    for (const [name, make] of Object.entries(this.#makers))
      if (this.#stale.has(name)) {
        await make()
        this.#stale.delete(name)
      }
  }

  /**
   * Uses an answer to keep the set of resources: created ones are ended, ended ones are recreated before the next
   * request.
   */
  async waitForIdle(request: Request, answer: Response | null): Promise<void> {
    const isOverridden = request.headers.some(([name]) => name === 'X-HTTP-Method-Override')
    const isSafe = /^(GET|HEAD|OPTIONS)$/.test(request.method) && !isOverridden
    if (answer === null || answer.status >= 300 || isSafe) return
    const has = (mark: string): boolean => request.target.includes(`{{${mark}}}`)
    if (has('upload.ready')) this.#stale.add('upload')
    if (has('upload.tus')) this.#stale.add('tus')
    if (has('keyid.spare')) this.#stale.add('keyid')
    if (has('token.own') && request.method === 'DELETE') this.#stale.add('token')
    if (has('preset.own') && request.method === 'DELETE') this.#stale.add('preset')
    for (const name of ['done', 'cancelled'])
      if (has(`job.${name}`) && request.method === 'DELETE') this.#stale.add(name)
    if (has('job.active') || has('task.id')) await this.#lookAtTask()
    const made = /"_auto_generated_id_":(\d+)/.exec(answer.body.toString('latin1'))?.[1]
    if (made !== undefined && request.method === 'POST') {
      await this.#ask('POST', `/api/v0/job/${made}/cancel`, 'jobs').catch(() => null)
    }
    await this.renew()
  }

  async #lookAtTask(): Promise<void> {
    const { status } = await this.#ask('GET', `/api/v0/job/${this.#marks['job.active']}`, 'jobs')
    if (status.job_completed || status.phase === 'queued' || status.phase === 'starting') this.#stale.add('active')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]()
    await this.#transcoder[Symbol.asyncDispose]()
  }
}
