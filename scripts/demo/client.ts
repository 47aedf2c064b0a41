// In charge of: speaking to the service as any client would: upload, create, read, download.
// Not in charge of: what is asked for, what is shown.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { Readable } from 'node:stream'

export interface Status {
  job_id: string
  state: string
  phase: string
  tcode_progress: string
  tcode_speed: string
  xfer_progress: string
  xfer_speed: string
  job_completed: boolean
  error: { code: string; message: string } | null
  warnings: { message: string }[]
  outputs: { path: string; url: string; size: number; sha256: string; segments?: { count: number; bytes: number } }[]
}

export class Client {
  readonly #base: string
  readonly #authorization: string

  constructor(base: string, key: string) {
    this.#base = base
    this.#authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
  }

  /** The address that a job names as its input. */
  async upload(path: string, name: string): Promise<string> {
    const { size } = await stat(path)
    const answer = await this.#ask(`/uploads?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
      body: Readable.toWeb(createReadStream(path)),
      duplex: 'half',
    })
    return (answer as { input: string }).input
  }

  /** The id to read the job by. `query` begins with a question mark, or is empty. */
  async create(body: unknown, query = ''): Promise<number> {
    const answer = await this.#ask(`/api/v0/job${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (answer as { _auto_generated_id_: number })._auto_generated_id_
  }

  async read(id: number): Promise<Status> {
    return ((await this.#ask(`/api/v0/job/${id}`)) as { status: Status }).status
  }

  /** Writes an output below `directory`; throws unless size and hash are the announced ones. Returns where it is. */
  async download(output: Status['outputs'][number], directory: string): Promise<string> {
    const path = join(directory, normalize(`/${output.path}`))
    await mkdir(dirname(path), { recursive: true })
    const response = await fetch(output.url)
    if (response.status !== 200 || !response.body)
      throw new Error(`${output.path} cannot be downloaded (HTTP ${response.status}).`)
    const hash = createHash('sha256')
    let size = 0
    await using file = await open(path, 'w')
    for await (const chunk of response.body) {
      hash.update(chunk)
      size += chunk.length
      await file.write(chunk)
    }
    if (size !== output.size) throw new Error(`${output.path} has ${size} bytes instead of ${output.size}.`)
    if (hash.digest('hex') !== output.sha256) throw new Error(`${output.path} arrived damaged (SHA-256).`)
    return path
  }

  async #ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const headers = { ...(init.headers as Record<string, string>), authorization: this.#authorization }
    const response = await fetch(this.#base + path, { ...init, headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`The service answered ${response.status}: ${messageOf(text)}`)
    return JSON.parse(text) as unknown
  }
}

function messageOf(text: string): string {
  try {
    const body = JSON.parse(text) as { message?: string; error?: { message?: string } }
    return body.error?.message ?? body.message ?? text
  } catch {
    return text.slice(0, 300)
  }
}
