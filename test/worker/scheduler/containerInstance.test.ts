// One container of the production transcoder, with a fake container API: which calls are made, in which order, and what
// follows when the container ends, hangs or never listens. test/containers runs the same with a real engine.
import { beforeEach, expect, test } from 'vitest'
import { TASK_PROTOCOL, type RunRequest } from '#contract/task/protocol.ts'
import type { ContainerAttempt } from '../../../worker/scheduler/containerInstance.ts'
import { ContainerInstance } from '../../../worker/scheduler/containerInstance.ts'

/** Like ctx.container: it runs from start() on, whether its process listens or not. */
class FakeContainer {
  running = false
  starts = 0
  /** Its process has not opened its port yet. */
  deaf = false
  /** As after `docker pause`: requests are never answered. */
  frozen = false
  /** What `/run` answers. */
  status = 202
  readonly requests: string[] = []
  /** Its requests lead to the task API. */
  isRouted = false
  #ends: { resolve: () => void; reject: (error: Error) => void }[] = []

  start({ enableInternet }: { enableInternet: boolean }): void {
    if (enableInternet || !this.isRouted) throw new Error('it would have another way out than the task API')
    if (this.running) throw new Error('start() cannot be called on a container that is already running.')
    this.running = true
    this.frozen = false
    this.starts++
  }

  monitor(): Promise<void> {
    return new Promise((resolve, reject) => this.#ends.push({ resolve, reject }))
  }

  async destroy(): Promise<void> {
    this.end()
  }

  /** Its process ends; the platform resolves the monitor promise. */
  end(error?: Error): void {
    this.running = false
    for (const { resolve, reject } of this.#ends.splice(0)) {
      if (error) reject(error)
      else resolve()
    }
  }

  async setInactivityTimeout(): Promise<void> {}

  getTcpPort(): { fetch: (url: string) => Promise<Response> } {
    return {
      fetch: (url) => {
        const path = new URL(url).pathname
        if (this.frozen) return new Promise<Response>(() => undefined)
        if (this.deaf || !this.running) return Promise.reject(new Error('Container is not listening on this port.'))
        this.requests.push(path)
        return Promise.resolve(new Response(null, { status: path === '/run' ? this.status : 200 }))
      },
    }
  }
}

let container: FakeContainer
let stored: Map<string, unknown>
let lost: ContainerAttempt[]
let current: ContainerAttempt | null
let instance: ContainerInstance

const LIMITS = { callTimeoutMs: 50, pollIntervalMs: 1, checkIntervalMs: 1000 }
const START_TIMEOUT_MS = 300

/** As after an eviction: the same container and storage, new memory. */
function wake(): ContainerInstance {
  return new ContainerInstance(
    {
      container: container as unknown as Container,
      storage: {
        get: async (key: string) => stored.get(key),
        put: async (key: string, value: unknown) => void stored.set(key, value),
        delete: async (key: string) => stored.delete(key),
        setAlarm: async () => undefined,
      } as never,
      routeOutbound: async () => void (container.isRouted = true),
      isCurrent: async (serving) => serving.task === current?.task && serving.attempt === current.attempt,
      attemptLost: async (serving) => void lost.push(serving),
    },
    LIMITS,
  )
}

beforeEach(() => {
  container = new FakeContainer()
  stored = new Map()
  lost = []
  current = null
  instance = wake()
})

const serving = (job: string, attempt = 1): ContainerAttempt => ({ jobId: job, task: `${job}-0`, attempt })

function run(of: ContainerAttempt) {
  const request: RunRequest = {
    protocol: TASK_PROTOCOL,
    task_id: of.task,
    attempt: of.attempt,
    token: 'token',
    task_api_url: 'http://door.splicepoint.internal',
  }
  current = of
  return instance.startAttempt(of, request, START_TIMEOUT_MS)
}

test('another job on a slot gets a new container, and neither job loses an attempt (I14)', async () => {
  expect(await run(serving('first'))).toBeNull()
  expect(await run(serving('second'))).toBeNull()
  expect(await run(serving('third'))).toBeNull()
  expect(container.starts).toBe(3)
  expect(lost).toEqual([])
})

test('the next attempt of a job does not go to the frozen container of the one before', async () => {
  await run(serving('job', 1))
  container.frozen = true
  expect(await run(serving('job', 2))).toBeNull()
  expect(container.starts).toBe(2)
  expect(lost).toEqual([])
})

test('a repeated start of the same attempt starts nothing, also while the first is still under way (I11)', async () => {
  expect(await Promise.all([run(serving('job')), run(serving('job'))])).toEqual([null, null])
  expect(await run(serving('job'))).toBeNull()
  expect(container.starts).toBe(1)
})

test('a container that exits during an attempt is reported immediately with that attempt', async () => {
  await run(serving('job'))
  container.end(new Error('container exited with unexpected exit code: 137'))
  await expect.poll(() => lost).toEqual([serving('job')])
})

test('a container that ended while its Durable Object was not in memory is noticed by the next check', async () => {
  await run(serving('job'))
  instance = wake()
  container.running = false
  await instance.checkAlive()
  expect(lost).toEqual([serving('job')])
})

test('a Durable Object that comes back into memory watches its container again', async () => {
  await run(serving('job'))
  instance = wake()
  await instance.reattach()
  container.end(new Error('gone'))
  await expect.poll(() => lost).toEqual([serving('job')])
})

test('a container that runs but never listens is given up within its limit, and its attempt is not lost', async () => {
  container.deaf = true
  expect(await run(serving('job'))).toMatchObject({ reason: 'no_answer' })
  container.deaf = false
  expect(await run(serving('job', 2))).toBeNull()
  expect(container.starts).toBe(2)
  expect(lost).toEqual([])
})

test('a container that exits before it listens is reported with the platform’s error', async () => {
  container.deaf = true
  const started = run(serving('job'))
  await expect.poll(() => container.running).toBe(true)
  container.end(new Error('there is no container instance that can be provided to this durable object'))
  expect(await started).toMatchObject({ reason: 'no_capacity' })
  expect(lost).toEqual([])
})

test('a refused task is reported with the response, and never counted as lost', async () => {
  container.status = 503
  expect(await run(serving('job'))).toMatchObject({ reason: 'refused', detail: expect.stringContaining('503') })
  container.end()
  expect(lost).toEqual([])
})

test('cancel of a start that is under way ends it at once', async () => {
  container.deaf = true
  const started = run(serving('job'))
  await expect.poll(() => container.running).toBe(true)
  await instance.cancel('job-0', 1)
  expect(await started).toMatchObject({ detail: expect.stringContaining('cancelled') })
  current = null
  await instance.checkAlive()
  expect(container.running).toBe(false)
})

test('cancel is handed to a container that works, and destroys one that does not answer', async () => {
  await run(serving('job'))
  await instance.cancel('job-0', 1)
  expect(container.requests.at(-1)).toBe('/cancel')
  expect(container.running).toBe(true)
  container.frozen = true
  await instance.cancel('job-0', 1)
  expect(container.running).toBe(false)
  expect(lost).toEqual([])
})

test('cancel of another attempt, and of one whose container is gone, starts and ends nothing', async () => {
  await instance.cancel('job-0', 1)
  expect(container.starts).toBe(0)
  await run(serving('job', 2))
  await instance.cancel('job-0', 1)
  expect(container.requests).not.toContain('/cancel')
  expect(container.running).toBe(true)
})

test('a container whose attempt is over is destroyed by the next check, one that works is not', async () => {
  await run(serving('job'))
  await instance.checkAlive()
  expect(container.running).toBe(true)
  current = null
  await instance.checkAlive()
  expect(container.running).toBe(false)
  expect(lost).toEqual([])
})
