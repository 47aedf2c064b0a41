// In charge of: `splicepoint vault rotate` as a process, against a fake that answers as the service does.
// Not in charge of: the encryption itself (test/worker/scheduler/quotas.test.ts), the other commands
// (node/service/cli/commands.test.ts).
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const LAUNCHER = resolve(import.meta.dirname, '../../../cli/splicepoint.js')

let server: Server
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** Sends these answers in order; returns the requests, and a function that runs the command. */
async function serve(answers: [number, object][]) {
  const asked: string[] = []
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    const [status, body] = answers[asked.length - 1] ?? [500, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { ...process.env, SPLICEPOINT_URL: `http://127.0.0.1:${port}`, SPLICEPOINT_KEY: 'admin' }
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
      execFile(process.execPath, [LAUNCHER, 'vault', ...args], { env }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      )
    })
  return { asked, run }
}

const batch = (change: object): [number, object] => [
  200,
  { key_id: 'k2', resealed: 100, done: false, unreadable: [], unreadable_keys: [], next: 0, next_key: '', ...change },
]
const three = [
  batch({ next: 120, next_key: 'sp_a', unreadable_keys: ['sp_a'] }),
  batch({ next: 260, next_key: 'sp_b', unreadable: [130] }),
  batch({ next: 300, next_key: 'sp_b', resealed: 7, done: true }),
]
const admin = `Basic ${Buffer.from('admin:').toString('base64')}`

test('resumes after the last batch, prints progress, and says at the end that the old key can be removed', async () => {
  const { asked, run } = await serve(three)
  const ran = await run('rotate')
  const places = ['after=0&after_key=', 'after=120&after_key=sp_a', 'after=260&after_key=sp_b']
  expect(asked).toEqual(places.map((place) => `POST /api/v0/vault/rotate?${place} ${admin}`))
  expect(ran).toEqual({
    code: 0,
    stdout:
      'Everything is encrypted with k2 (207 encrypted again). The other keys can be removed from VAULT_KEYS.\n' +
      'Lost, because their key is no longer in VAULT_KEYS: job 130, key sp_a\n',
    stderr: '100 encrypted again with k2, up to job 120\n200 encrypted again with k2, up to job 260\n',
  })
})

test('for programs: one document, the sum of all batches, and nothing else', async () => {
  const { run } = await serve(three)
  const { code, stdout, stderr } = await run('rotate', '--json')
  expect({ code, stderr, document: JSON.parse(stdout) }).toEqual({
    code: 0,
    stderr: '',
    document: { key_id: 'k2', resealed: 207, done: true, unreadable: [130], unreadable_keys: ['sp_a'] },
  })
})

test('a service that fails for a moment is asked again for the same batch', async () => {
  const [first, second, third] = three
  const failed: [number, object] = [503, { error: { code: 'unavailable', message: 'The service is busy.' } }]
  const { asked, run } = await serve([first!, failed, second!, third!])
  expect((await run('rotate')).code).toBe(0)
  expect(asked.map((request) => /after=(\d+)/.exec(request)?.[1])).toEqual(['0', '120', '120', '260'])
})

test('a key without the admin scope is refused, and an unknown subcommand is a usage error', async () => {
  const { run } = await serve([[403, { error: { code: 'forbidden', message: 'It lacks the scope "admin".' } }]])
  expect(await run('rotate')).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('forbidden') })
  expect(await run('open')).toMatchObject({ code: 2, stderr: expect.stringContaining('vault rotate') })
})
