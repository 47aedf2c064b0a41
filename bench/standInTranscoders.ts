// In charge of: transcoders that encode nothing, in a process of their own: they take jobs, send heartbeats, read the
// source and store an output through the task API, as a real one does. So the service is measured, not ffmpeg.
// Not in charge of: evaluating (rows/server.ts).
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { HEARTBEAT_MS, type ProgressPost, type RunRequest } from '#contract/task/protocol.ts'
import { TaskClient } from '../transcoder/taskApi/taskClient.ts'

/** `hold`: an attempt runs, with heartbeats, until the work changes. */
export type StandInWork = { kind: 'hold' } | { kind: 'finish'; outputBytes: number; readSource: boolean }

export interface StandInCounts {
  started: number
  heartbeats: number
  finished: number
  bytesRead: number
  bytesStored: number
  failures: Record<string, number>
}

export type StandInOrder = { transcoders: number } | { work: StandInWork } | 'counts'
export type StandInAnswer = { urls: string[] } | { counts: StandInCounts }

const counts: StandInCounts = { started: 0, heartbeats: 0, finished: 0, bytesRead: 0, bytesStored: 0, failures: {} }
const never = new AbortController().signal
let work: StandInWork = { kind: 'hold' }
let released = Promise.withResolvers<void>()

const progress: ProgressPost = {
  phase: 'transcoding',
  transcoded: 0.5,
  transcode_seconds: 1,
  speed: 1,
  bytes_produced: 0,
  bytes_stored: 0,
  transfer_seconds: 0,
  eta_seconds: 1,
}

async function runAttempt({ task_id, token, task_api_url }: RunRequest): Promise<void> {
  const client = new TaskClient({ base: task_api_url, taskId: task_id, token })
  const { config } = await client.fetchTask('0', never)
  counts.started++
  const ended = new AbortController()
  const heartbeats = sendHeartbeats(client, ended.signal)
  while (work.kind === 'hold') await released.promise
  const { outputBytes, readSource } = work
  if (readSource) await readWholeSource(client)
  const path = (config as { videoProfiles: { output: string }[] }).videoProfiles[0]?.output ?? ''
  const bytes = Buffer.alloc(outputBytes, 7)
  const { upload, part_size } = await client.openUpload(
    { path, content_type: 'video/mp4', expected_size: outputBytes },
    never,
  )
  const parts: { n: number; etag: string }[] = []
  for (let at = 0; at < bytes.length; at += part_size) {
    const part = bytes.subarray(at, at + part_size)
    const { etag } = await client.putPart(upload, parts.length + 1, part, never)
    parts.push({ n: parts.length + 1, etag })
    counts.bytesStored += part.length
  }
  const object = { path, upload, size: bytes.length, sha256: sha256(bytes), content_type: 'video/mp4', parts }
  await client.postFinish(
    { objects: [{ ...object, profile: 0, role: 'media' }], written: [], warnings: [], progress },
    never,
  )
  counts.finished++
  ended.abort()
  await heartbeats
}

async function readWholeSource(client: TaskClient): Promise<void> {
  const answer = await client.fetchInput(null, null, never)
  if (!answer.ok || answer.body === null) throw new Error(`source: ${answer.status}`)
  for await (const chunk of answer.body) counts.bytesRead += (chunk as Uint8Array).length
}

async function sendHeartbeats(client: TaskClient, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await client.postProgress(progress, never).then(
      () => counts.heartbeats++,
      () => undefined,
    )
    await pause(HEARTBEAT_MS, undefined, { signal: ended }).catch(() => undefined)
  }
}

const hashes = new Map<number, string>()
/** All outputs of a size have the same bytes. */
function sha256(bytes: Buffer): string {
  const known = hashes.get(bytes.length) ?? createHash('sha256').update(bytes).digest('hex')
  hashes.set(bytes.length, known)
  return known
}

async function startOne(): Promise<string> {
  let current = Promise.resolve()
  const take = async (request: IncomingMessage): Promise<void> => {
    if (request.url !== '/run') return
    const run = (await json(request)) as RunRequest
    // As the real one: the next job may arrive while the last answer of the one before is still on its way.
    await current
    current = runAttempt(run).catch((error: unknown) => {
      const text = String(error)
      counts.failures[text] = (counts.failures[text] ?? 0) + 1
    })
  }
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(202).end('{}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

process.on('message', (order: StandInOrder) => {
  if (order === 'counts') return void process.send?.({ counts } satisfies StandInAnswer)
  if ('work' in order) {
    work = order.work
    const before = released
    released = Promise.withResolvers()
    before.resolve()
    return
  }
  void Promise.all(Array.from({ length: order.transcoders }, startOne)).then((urls) =>
    process.send?.({ urls } satisfies StandInAnswer),
  )
})
process.on('disconnect', () => process.exit(0))
