// In charge of: the transcoder's reaction to answers of the task API: retry, stop, or report a job error.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { HlsDescription } from '#contract/task/protocol.ts'
import { TaskClient } from '../../../../transcoder/taskApi/taskClient.ts'
import { retryAfterMs } from '../../../../transcoder/taskApi/responseErrors.ts'
import { StaleAttempt } from '../../../../transcoder/errors.ts'
import { TaskError } from '#contract/taskError.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { backoffMs } from '../../../../transcoder/taskApi/retry.ts'
import { jobSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'
import { readBody, sendJson, pseudoRandomBytes } from '../../../support/transcoder/fakeTaskApi.ts'
import { collectGarbage } from '../../../support/transcoder/garbageCollection.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { useTaskApi } from '../../../support/transcoder/useAttempts.ts'
import { expectSameBytes } from '../../../support/sameBytes.ts'

const taskApi = useTaskApi()
let client: TaskClient
const { path: directory } = useTempDirectory()
const signal = new AbortController().signal

beforeEach(() => {
  client = new TaskClient({
    base: `${taskApi.url}/`,
    taskId: 't-1',
    token: taskApi.token,
    backoff: { baseMs: 1, maxMs: 2 },
  })
})

const plan = planJob(jobSpec(), mediaInfo())
const request = { path: 'a.ts', content_type: 'video/mp2t', expected_size: 1 }

describe('a part', () => {
  test('is sent again from disk after 503, a cut connection and 429, and its bytes are right', async () => {
    const bytes = pseudoRandomBytes(3 * 1024 * 1024)
    await writeFile(join(directory, 'f'), bytes)
    taskApi.partSize = 4 * 1024 * 1024
    const { upload } = await client.openUpload(request, signal)
    taskApi.faults.part = async ({ request: sent, response, n }) => {
      if (n === 1) sendJson(response, 503, { error: { code: 'unavailable', message: 'later' } })
      else if (n === 2) sent.once('data', () => sent.destroy())
      else if (n === 3) {
        await readBody(sent)
        sendJson(response, 429, { error: { code: 'unavailable', message: 'slower' } })
      } else return false
      return true
    }
    const slice = { path: join(directory, 'f'), start: 1000, end: 2_000_000 }
    await client.putUploadPart(upload, 1, slice, signal)
    expectSameBytes(taskApi.uploads.get(upload)!.parts.get(1)!, bytes.subarray(1000, 2_000_000))
    expect(taskApi.counts.get('part')).toBe(4)
    expect(taskApi.breaches).toEqual([])
  })

  test('that the task API does not read for too long is sent again', async () => {
    const patient = new TaskClient({
      base: taskApi.url,
      taskId: 't-1',
      token: taskApi.token,
      backoff: { baseMs: 1, maxMs: 2 },
      stallMs: 1000,
    })
    await writeFile(join(directory, 'f'), pseudoRandomBytes(20 * 1024 * 1024))
    taskApi.partSize = 32 * 1024 * 1024
    const { upload } = await patient.openUpload(request, signal)
    taskApi.faults.part = ({ request: sent, n }) => {
      if (n === 1) sent.pause()
      return n === 1
    }
    await patient.putUploadPart(upload, 1, { path: join(directory, 'f'), start: 0, end: 20 * 1024 * 1024 }, signal)
    expect(taskApi.counts.get('part')).toBeGreaterThan(1)
    expect(taskApi.uploads.get(upload)!.parts.get(1)!.length).toBe(20 * 1024 * 1024)
  })
})

test.each([
  [409, 'stale_attempt'],
  [409, 'job_finished'],
  [401, 'unauthorized'],
])('%d %s ends the attempt at the first answer', async (status, code) => {
  taskApi.faults.plan = ({ response }) => {
    sendJson(response, status, { error: { code, message: 'over' } })
    return true
  }
  await expect(client.postPlan({ plan, warnings: [] }, signal)).rejects.toBeInstanceOf(StaleAttempt)
  expect(taskApi.counts.get('plan')).toBe(1)
})

test.each([
  [403, 'output_forbidden', 'output_forbidden', 1],
  [502, 'output_forbidden', 'output_forbidden', 1], // a permanent code is final, whatever status carries it
  // A refusal that has no cause in the job is the same for every attempt.
  [400, 'invalid_request', 'task_refused', 1],
  [403, 'forbidden', 'task_refused', 1],
  [404, 'not_found', 'task_refused', 1],
  [411, 'length_required', 'task_refused', 1],
  [400, 'output_refused', 'output_refused', 1],
  // Not an answer of the service: a proxy in between, which may answer the next attempt differently.
  [403, '', 'output_unreachable', 1],
  [404, '', 'output_unreachable', 1],
  [409, 'conflict', 'output_unreachable', 1],
  [413, 'too_large', 'output_too_large', 1],
])('%d %s is the job’s problem %s after %d request', async (status, code, expected, requests) => {
  taskApi.faults.uploads = ({ response }) => {
    sendJson(response, status, { error: { code, message: 'The store said no.', details: { status: 403 } } })
    return true
  }
  const error = await client.openUpload(request, signal).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TaskError)
  expect(error).toMatchObject({ code: expected, message: 'The store said no.', details: { status: 403 } })
  expect(taskApi.counts.get('uploads')).toBe(requests)
})

test.each([
  ['host_not_found', true],
  ['connection_refused', true],
  ['tls_failed', true],
])('%s of a store is an error only after it has lasted', async (code, permanent) => {
  const options = { base: taskApi.url, taskId: 't-1', token: taskApi.token, backoff: { baseMs: 1, maxMs: 2 } }
  const hasty = new TaskClient({ ...options, connectionRetryMs: 30 })
  taskApi.faults.uploads = ({ response }) => {
    sendJson(response, 502, { error: { code, message: 'It is so.' } })
    return true
  }
  await expect(hasty.openUpload(request, signal)).rejects.toMatchObject({ code, permanent, message: 'It is so.' })
  expect(taskApi.counts.get('uploads')).toBeGreaterThan(1)
  let left = 10
  const real = taskApi.faults.uploads
  taskApi.faults.uploads = (call) => left-- > 0 && real(call)
  expect(await new TaskClient(options).openUpload(request, signal)).toMatchObject({ upload: expect.any(String) })
})

test('a store that is away when the plan is made is waited for in the queue, not here', async () => {
  const options = { base: taskApi.url, taskId: 't-1', token: taskApi.token, backoff: { baseMs: 1, maxMs: 2 } }
  const hasty = new TaskClient({ ...options, upstreamMs: 20 })
  taskApi.faults.plan = ({ response }) => {
    sendJson(response, 502, { error: { code: 'output_unreachable', message: 'It is away.' } })
    return true
  }
  await expect(hasty.postPlan({ plan, warnings: [] }, signal)).rejects.toMatchObject({ code: 'output_unreachable' })
  expect(taskApi.counts.get('plan')).toBeGreaterThan(1)
  // A service that cannot answer is another case.
  let left = 30
  taskApi.faults.plan = ({ response }) => {
    if (left-- <= 0) return false
    sendJson(response, 500, { error: { code: 'internal', message: 'A fault.' } })
    return true
  }
  expect(await hasty.postPlan({ plan, warnings: [] }, signal)).toMatchObject({ version: 3 })
})

test('retries are bounded: after that the last error of the task API is thrown', async () => {
  taskApi.faults.fail = ({ response }) => {
    sendJson(response, 503, { error: { code: 'unavailable', message: 'not now' } })
    return true
  }
  await expect(client.postFailure({ reason: 'interrupted' }, 2000, signal)).rejects.toMatchObject({
    message: 'not now',
  })
  expect(taskApi.counts.get('fail')!).toBeGreaterThan(1)
})

test('a response body is complete, even if garbage is collected before it is read', async () => {
  const bytes = pseudoRandomBytes(3 * 1024 * 1024)
  taskApi.hls = { description: {} as HlsDescription, segments: [bytes] }
  const taken = await client.fetchHlsResource('p/0/segments/0', signal, async (coming) => {
    await collectGarbage()
    const parts: Uint8Array[] = []
    for await (const part of coming) parts.push(part)
    return Buffer.concat(parts)
  })
  expect(taken.equals(bytes)).toBe(true)
})

test('a heartbeat is one try', async () => {
  taskApi.faults.progress = ({ response }) => {
    response.destroy()
    return true
  }
  const post = {
    phase: 'starting',
    transcoded: 0,
    transcode_seconds: 0,
    speed: null,
    bytes_produced: 0,
    bytes_stored: 0,
    transfer_seconds: 0,
    eta_seconds: null,
  } as const
  await expect(client.postProgress(post, signal)).rejects.toBeInstanceOf(TaskError)
  expect(taskApi.counts.get('progress')).toBe(1)
})

test('an abort ends the wait between two tries with its own reason', async () => {
  const abort = new AbortController()
  const reason = new Error('enough')
  taskApi.faults.plan = ({ response }) => {
    response.setHeader('retry-after', '30')
    response.on('finish', () => abort.abort(reason))
    sendJson(response, 503, { error: { code: 'unavailable', message: 'later' } })
    return true
  }
  await expect(client.postPlan({ plan, warnings: [] }, abort.signal)).rejects.toBe(reason)
})

test('the token is not carried to another address', async () => {
  taskApi.faults.task = ({ response }) => {
    response.writeHead(307, { location: `${taskApi.url}/elsewhere` }).end()
    return true
  }
  const impatient = new AbortController()
  taskApi.faults.task = ({ response, n }) => {
    if (n === 2) impatient.abort(new Error('seen'))
    response.writeHead(307, { location: `${taskApi.url}/elsewhere` }).end()
    return true
  }
  await expect(client.fetchTask('1234', impatient.signal)).rejects.toThrow('seen')
  expect(taskApi.breaches).toEqual([])
})

test('retry-after: seconds, a date, at most a minute', () => {
  expect(retryAfterMs('2')).toBe(2000)
  expect(retryAfterMs('9999')).toBe(60_000)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:00:05 GMT', 2000)).toBe(3000)
  expect(retryAfterMs(null)).toBeNull()
  expect(retryAfterMs('soon')).toBeNull()
})

test('back-off doubles up to its limit, drawn between half and all', () => {
  const backoff = { baseMs: 100, maxMs: 1000 }
  expect([1, 2, 3, 4, 5, 50].map((tries) => backoffMs(backoff, tries, () => 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoffMs(backoff, 3, () => 0)).toBe(200)
})
