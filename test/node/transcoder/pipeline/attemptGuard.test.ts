// A transcoder that can do nothing else any more, or whose memory fills, reports why and ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const posts: { path: string | undefined; token: string | undefined; body: unknown }[] = []
const server = createServer((request, response) => {
  const take = async (): Promise<void> => {
    posts.push({ path: request.url, token: request.headers.authorization, body: await json(request) })
    response.end('{}')
  }
  void take()
})
beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')))
beforeEach(() => void (posts.length = 0))
afterAll(() => server.close())

/** Runs `work` as a guarded attempt in a process of its own; returns how it ended. */
async function guarded(work: string, limits: { turnSeconds: number; memoryBytes: number }): Promise<unknown> {
  const { port } = server.address() as AddressInfo
  const request = { task_api_url: `http://127.0.0.1:${port}/api`, task_id: 'job-7', token: 'secret' }
  const script = `
    import { guardAttempt } from ${JSON.stringify(new URL('../../../../transcoder/pipeline/attemptGuard.ts', import.meta.url).href)}
    const release = guardAttempt(${JSON.stringify(request)}, () => 'sampling', ${JSON.stringify(limits)})
    const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6 }
    ${work}`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return signal ?? code
}

const plenty = 2 ** 40
const oneTurn = 'await new Promise((done) => setTimeout(done, 600)); for (;;);'
test.each([
  ['one turn of its loop takes too long', oneTurn, { turnSeconds: 1, memoryBytes: plenty }, /1 s of processor time/],
  ['it has too much memory', 'setInterval(() => 0, 50)', { turnSeconds: 1e6, memoryBytes: 2 ** 20 }, /1 MiB of memory/],
])('%s', async (_name, work, limits, message) => {
  expect(await guarded(work, limits)).toBe('SIGKILL')
  expect(posts).toEqual([
    {
      path: '/api/task/job-7/fail',
      token: 'Bearer secret',
      body: {
        reason: 'failed',
        error: {
          code: 'source_too_costly',
          message: expect.stringMatching(message),
          details: { phase: 'sampling' },
        },
      },
    },
  ])
  expect(JSON.stringify(posts)).toContain('(phase: sampling)')
})

test('much work in short turns, and no more after the release, is none of that', async () => {
  const turns =
    'while (cpu() < 2) { const until = cpu() + 0.1; while (cpu() < until); await new Promise(setImmediate) }'
  const after = `${turns}; await release(); const until = cpu() + 2; while (cpu() < until);`
  expect(await guarded(after, { turnSeconds: 1, memoryBytes: plenty })).toBe(0)
  expect(posts).toEqual([])
})
