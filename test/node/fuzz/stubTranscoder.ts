// In charge of: a fake transcoder for the service under test: it accepts every job, and calls the task API for the jobs
// that tests name; the others are cancelled by the test that created them. It also receives webhooks.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FinishPost, ProgressPost, RunRequest, UploadReply } from '#contract/task/protocol.ts'

export const TRANSCODER_SECRET = 'secret-of-transcoders-of-the-fuzzer'

const progress: ProgressPost = {
  phase: 'uploading',
  transcoded: 1,
  transcode_seconds: 1,
  speed: 1,
  bytes_produced: 5,
  bytes_stored: 5,
  transfer_seconds: 0.1,
  eta_seconds: null,
}

export class StubTranscoder {
  readonly #servers: Server[]
  /** By the job's backend id. */
  readonly #runs = new Map<string, RunRequest>()
  #came: () => void = () => undefined

  private constructor(servers: Server[]) {
    this.#servers = servers
  }

  /** Two slots: one may stay busy while another job is completed. */
  static async start(): Promise<StubTranscoder> {
    const servers = [createServer(), createServer()]
    const made = new StubTranscoder(servers)
    for (const server of servers) {
      server.on('request', (request, response) => void made.#answer(request, response))
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    return made
  }

  get urls(): string[] {
    return this.#servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }

  /** The first attempt of a job. */
  async runOf(job: string): Promise<RunRequest> {
    for (;;) {
      const run = this.#runs.get(job)
      if (run) return run
      await new Promise<void>((resolve) => (this.#came = resolve))
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (request.url === '/run') {
      const run = JSON.parse(body) as RunRequest
      this.#runs.set(run.task_id.replace(/-\d+$/, ''), run)
    }
    response.writeHead(202).end()
    this.#came()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

async function callTaskApi(run: RunRequest, method: string, path: string, body?: object | Buffer): Promise<any> {
  const response = await fetch(`${run.task_api_url}/task/${run.task_id}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${run.token}`,
      ...(body === undefined || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** From then on the attempt counts as running. */
export async function beginTask(run: RunRequest): Promise<void> {
  await callTaskApi(run, 'GET', '')
}

/** Stores one small output and completes the task. */
export async function finishTask(run: RunRequest, path: string): Promise<void> {
  const bytes = Buffer.from('hello world')
  const begun = { path, content_type: 'video/mp4', expected_size: bytes.length }
  const { upload } = (await callTaskApi(run, 'POST', '/uploads', begun)) as UploadReply
  const { etag } = (await callTaskApi(run, 'PUT', `/uploads/${upload}/1`, bytes)) as { etag: string }
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const object = { path, upload, size: bytes.length, sha256, content_type: 'video/mp4', parts: [{ n: 1, etag }] }
  await callTaskApi(run, 'POST', '/finish', {
    objects: [{ ...object, profile: 0, role: 'media' }],
    written: [],
    warnings: [],
    progress,
  } satisfies FinishPost)
}
