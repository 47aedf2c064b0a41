// In charge of: `webhooks listen`: what a receiver on this machine gets, judged by the package that receivers use.
// Not in charge of: the webhooks that the service sends (worker/webhooks).
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import type { ListedJob } from '#contract/api/answers.ts'
import { webhooksCommand } from '../../../cli/commands/webhooksCommand.ts'
import { jobRead } from '../../../scripts/openapi/examples.ts'

const job = (number: number, change: Partial<ListedJob['status']> = {}): ListedJob => ({
  _auto_generated_id_: number,
  job_id: `job-${number}`,
  cloud: 'vendor-store',
  updated_at: '2026-11-22T10:00:00.123Z',
  input: 'http://x.test/uploads/10',
  metadata: { film: 'a' },
  status: { ...jobRead.status, ...change },
})

test('each job that ends is sent once, signed; jobs that had ended before are not', async () => {
  const received: unknown[] = []
  const said: string[] = []
  const stopped = new AbortController()
  const receiver = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const secret = /whsec_\S+/.exec(said.join('\n'))![0]
      received.push(new Webhook(secret).verify(await text(request), request.headers as Record<string, string>))
      response.writeHead(received.length === 1 ? 204 : 500).end()
    }
    answer().catch((error: unknown) => response.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const error = { code: 'source_damaged', message: 'Damaged.', advice: '', docs: '' } as const
  const failed = job(3, { state: 'error', error })
  const unfinished = job(2, { state: 'running', job_completed: false })
  const answers = [
    [unfinished, job(1)],
    [failed, job(2), job(1)],
    [failed, job(2), job(1)],
  ]
  const list = () => {
    const jobs = answers.shift()
    if (jobs === undefined) stopped.abort()
    return Promise.resolve({ jobs: jobs ?? [], next_cursor: null })
  }
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const options = { say: (line: string) => void said.push(line), signal: stopped.signal, everyMs: 1 }
  await webhooksCommand({ list }, ['listen', address], options)
  receiver.close()
  expect(received).toMatchObject([
    { type: 'job.completed', data: { _auto_generated_id_: 2, job_id: 'job-2', metadata: { film: 'a' }, error: null } },
    { type: 'job.failed', data: { _auto_generated_id_: 3, error: { code: 'source_damaged' } } },
  ])
  expect(said.slice(2)).toEqual(['job.completed of job 2: answered with 204', 'job.failed of job 3: answered with 500'])
})

test('a receiver that is not there is said, and the next job is sent all the same', async () => {
  const said: string[] = []
  const stopped = new AbortController()
  let asked = 0
  const list = () => {
    asked += 1
    if (asked === 3) stopped.abort()
    return Promise.resolve({ jobs: asked === 1 ? [] : [job(4)], next_cursor: null })
  }
  const options = { say: (line: string) => void said.push(line), signal: stopped.signal, everyMs: 1 }
  await webhooksCommand({ list }, ['listen', 'http://127.0.0.1:1/hook'], options)
  expect(said.slice(2)).toEqual([expect.stringMatching(/^job\.completed of job 4: .* does not answer/)])
})

test('an address that is none is wrong usage', async () => {
  const options = { say: () => undefined, signal: new AbortController().signal }
  const list = () => Promise.reject(new Error('not asked'))
  for (const words of [
    ['listen', 'localhost:3000'],
    ['send', 'http://x'],
  ])
    await expect(webhooksCommand({ list }, words, options)).rejects.toThrow('Write: splicepoint webhooks listen')
})
