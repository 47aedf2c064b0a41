// In charge of: calling a service as a client would.
// Not in charge of: starting one (service.ts; test/containers), expectations.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expectDescribed } from '../../scripts/openapi/strictAnswers.ts'
import type { PublicEvent } from '#contract/api/answers.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { JOB_TIMEOUT_MS, STEP_TIMEOUT_MS } from './timeouts.ts'

/** Polls until the answer is neither null nor false. */
export async function waitFor<T>(
  what: string,
  poll: () => T | Promise<T>,
  ms = STEP_TIMEOUT_MS,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms
  for (;;) {
    const answer = await poll()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`)
    await pause(50)
  }
}

export class TestClient {
  readonly base: string
  readonly apiKey: string
  constructor(base: string, apiKey: string) {
    this.base = base
    this.apiKey = apiKey
  }

  isServing(): Promise<boolean> {
    return fetch(`${this.base}/health`).then(
      (response) => response.status === 200,
      () => false,
    )
  }

  /** Each JSON answer is checked against the OpenAPI document. */
  async call(path: string, init: RequestInit & { password?: string } = {}): Promise<Response> {
    const user = Buffer.from(`${this.apiKey}:${init.password ?? ''}`).toString('base64')
    const response = await fetch(this.base + path, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: `Basic ${user}` },
    })
    await expectDescribed(init.method ?? 'GET', path, response)
    return response
  }

  async upload(path: string): Promise<string> {
    const { size } = await stat(path)
    const response = await this.call('/uploads', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
      body: Readable.toWeb(createReadStream(path)),
      duplex: 'half',
    })
    if (response.status !== 201) throw new Error(`upload: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { input: string }).input
  }

  async create(body: object): Promise<number> {
    const response = await this.call('/api/v0/job', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 200) throw new Error(`create: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { _auto_generated_id_: number })._auto_generated_id_
  }

  /** null while the Worker is unreachable. */
  async status(id: number): Promise<PublicStatus | null> {
    const response = await this.call(`/api/v0/job/${id}`).catch(() => null)
    if (response?.status !== 200) return null
    // A test that kills the runtime may cut an answer off; that counts as no answer.
    const read = (await response.json().catch(() => null)) as { status: PublicStatus } | null
    return read?.status ?? null
  }

  /** The events of a job. */
  async events(id: number): Promise<PublicEvent[]> {
    const response = await this.call(`/api/v0/job/${id}/events`)
    return ((await response.json()) as { events: PublicEvent[] }).events
  }

  /** Polls until the job has ended. */
  waitForEnd(id: number, ms = JOB_TIMEOUT_MS): Promise<PublicStatus> {
    return waitFor(
      `job ${id} to end`,
      async () => {
        const status = await this.status(id)
        return status?.job_completed === true ? status : null
      },
      ms,
    )
  }

  /** Creates a job and polls until it has ended. */
  async run(body: object): Promise<PublicStatus> {
    return this.waitForEnd(await this.create(body))
  }

  /** Polls until the job is partly encoded. */
  waitForEncoding(id: number): Promise<PublicStatus> {
    return waitFor(`job ${id} to be half-way`, async () => {
      const status = await this.status(id)
      if (status?.job_completed) throw new Error(`it ended before: ${JSON.stringify(status)}`)
      return status?.phase === 'transcoding' && Number(status.tcode_progress) > 0 ? status : null
    })
  }
}

/** A small valid job: one rendition of 320x180, with the first audio stream unless changed. */
export function jobRequest(input: string, provider: 'file-upload' | 'http', change: object = {}): object {
  return {
    input,
    videoProfiles: [{ output: 'video.mp4', width: 320, height: 180, video_bitrate: 400 }],
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: provider }, output: { cloud_provider: 'vendor-store' } },
    ...change,
  }
}
