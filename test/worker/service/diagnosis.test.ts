// In charge of: the service's self-diagnosis: with the real D1, R2 and queue it finds no problem, it
// names each planted mistake, and it leaves nothing behind.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Check, Diagnosis } from '#contract/api/diagnosis.ts'
import { checkQueue } from '../../../worker/diagnosis/bindingChecks.ts'
import worker from '../../../worker/index.ts'
import { requestWithEnv } from '../support/appRequest.ts'
import { basicAuth, BASE_URL, apiRequest, API_KEY, ADMIN_KEY } from '../support/apiClient.ts'

const health = { state: 'idle', version: '1.2.3', ffmpeg: '7.1' }
const answering = vi.spyOn(globalThis, 'fetch')
beforeEach(async () => {
  answering.mockImplementation(async () => Response.json(health))
  await env.DB.prepare('DELETE FROM marks').run()
})
afterEach(() => answering.mockReset())

const other = (change: object): Env => ({ ...env, EGRESS: 'platform', ALLOW_PRIVATE_HOSTS: '', ...change })

async function diagnose(where: Env): Promise<Diagnosis> {
  const [status, answer] = await requestWithEnv(where, 'POST', '/api/v0/diagnosis')
  expect(status, JSON.stringify(answer)).toBe(200)
  return answer
}

const isSecond = (address: RequestInfo | URL) => new Request(address).url.includes('transcoder-1')
const reconciler = () => worker.scheduled({} as ScheduledController, env)
const named = (diagnosis: Diagnosis, name: string): Check => diagnosis.checks.find((one) => one.name === name)!
const wrong = ({ checks }: Diagnosis) =>
  checks.flatMap(({ name, verdict }) => (['ok', 'skipped'].includes(verdict) ? [] : [name]))

/** Everything that a diagnosis could leave behind. */
async function kept(): Promise<unknown> {
  const marks = await env.DB.prepare(`SELECT name FROM marks WHERE name <> 'sweep'`).all()
  const objects = await env.BUCKET.list({ prefix: 'diagnosis/' })
  return { marks: marks.results, objects: objects.objects.map(({ key }) => key) }
}

test('a whole service is whole, and nothing stays behind', async () => {
  await reconciler()
  const found = await diagnose(other({}))
  expect(wrong(found)).toEqual(['secrets']) // the admin key of the tests is too short
  expect(found.checks.map(({ name }) => name).join(' ')).toBe(
    'settings secrets vault egress migrations bucket queue cron starts transcoders',
  )
  expect(found).toMatchObject({
    vault: { key_ids: ['k1'] },
    egress: { policy: 'platform', allow_private_hosts: [] },
    settings: { max_slots: 2, transcoders: 'local' },
    cron: { last_ended_at: expect.any(String) },
    slots: [0, 1].map((slot) => ({ slot, busy: false, running: true, transcoder: health })),
  })
  expect(found.migrations.applied).toEqual(found.migrations.expected)
  expect(await kept()).toEqual({ marks: [], objects: [] })
})

test('no secret is in it', async () => {
  const text = JSON.stringify(await diagnose(other({})))
  for (const secret of [env.SERVICE_SECRET, env.VAULT_KEYS.split(':')[1]!, env.ADMIN_KEY, env.API_KEY])
    expect(text).not.toContain(secret)
})

test('needs the admin scope: a jobs key and a request without key are refused; GET is not allowed', async () => {
  expect((await apiRequest('/api/v0/diagnosis', { method: 'POST', key: API_KEY })).status).toBe(403)
  const nobody = await apiRequest('/api/v0/diagnosis', {
    method: 'POST',
    headers: { authorization: basicAuth('wrong') },
  })
  expect(nobody.status).toBe(401)
  const read = await apiRequest('/api/v0/diagnosis', { key: ADMIN_KEY })
  expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
  expect(await kept()).toEqual({ marks: [], objects: [] })
})

test('a migration that was not applied is named, with the command', async () => {
  const last = await env.DB.prepare('SELECT id, name FROM d1_migrations ORDER BY id DESC LIMIT 1').first<any>()
  await env.DB.prepare('DELETE FROM d1_migrations WHERE id = ?').bind(last.id).run()
  try {
    const found = await diagnose(other({}))
    expect(named(found, 'migrations')).toMatchObject({
      verdict: 'fault',
      message: expect.stringContaining(last.name),
      remedy: expect.stringContaining('cloudflare -- d1 migrations apply DB --remote'),
    })
  } finally {
    await env.DB.prepare('INSERT INTO d1_migrations (id, name) VALUES (?, ?)').bind(last.id, last.name).run()
  }
})

test('a database without the newest table is found, and everything else is still looked at', async () => {
  await env.DB.prepare('ALTER TABLE marks RENAME TO gone').run()
  try {
    const found = await diagnose(other({}))
    expect(wrong(found)).toEqual(expect.arrayContaining(['queue', 'cron']))
    expect(named(found, 'bucket').verdict).toBe('ok')
  } finally {
    await env.DB.prepare('ALTER TABLE gone RENAME TO marks').run()
  }
})

test('a queue without a consumer', async () => {
  const sent: unknown[] = []
  const deaf = other({ QUEUE: { send: async (body: unknown) => void sent.push(body) } as unknown as Queue })
  expect(await checkQueue(deaf, 300)).toMatchObject({
    verdict: 'fault',
    message: expect.stringContaining('the consumer did not receive it'),
    remedy: expect.stringContaining('[[queues.consumers]]'),
  })
  expect(sent).toHaveLength(1)
  // The message arrives late, when the diagnosis no longer waits for it.
  const batch = { messages: [{ body: sent[0], ack: vi.fn<() => void>(), retry: vi.fn<() => void>() }] }
  await worker.queue(batch as unknown as MessageBatch<any>, env)
  expect(batch.messages[0]!.ack).toHaveBeenCalledOnce()
  expect(await kept()).toEqual({ marks: [], objects: [] })
})

test('a cron that never rang, and one that stopped', async () => {
  expect(named(await diagnose(other({})), 'cron')).toMatchObject({
    verdict: 'fault',
    remedy: expect.stringContaining('[triggers] crons'),
  })
  await reconciler()
  expect(named(await diagnose(other({})), 'cron').verdict).toBe('ok')
  await env.DB.prepare('UPDATE marks SET seen_at = seen_at - 600000').run()
  expect(named(await diagnose(other({})), 'cron')).toMatchObject({ verdict: 'fault' })
})

test('what a diagnosis that died left goes with the next one', async () => {
  await env.DB.prepare(`INSERT INTO marks (name, made_at) VALUES ('probe:old', 0)`).run()
  await diagnose(other({}))
  expect(await kept()).toEqual({ marks: [], objects: [] })
})

test.each([
  ['bucket', { BUCKET: undefined }, '[[r2_buckets]]'],
  ['bucket', { BUCKET: { put: () => Promise.reject(new Error('no such bucket')), delete: async () => {} } }, 'r2'],
  ['egress', { EGRESS: 'pinned' }, '"platform"'],
  ['egress', { EGRESS: 'platform', ALLOW_PRIVATE_HOSTS: '10.0.0.1:80' }, 'ALLOW_PRIVATE_HOSTS'],
  ['settings', { BASE_URL: 'https://elsewhere.example' }, 'BASE_URL'],
  ['vault', { VAULT_KEYS: 'k1:c2hvcnQ=' }, '32 bytes'],
  [
    'vault',
    {
      VAULT_KEYS: 'k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,k1:YTEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=',
    },
    'VAULT_KEYS',
  ],
  ['transcoders', { TRANSCODER_URLS: '', MAX_SLOTS: '2' }, '[[containers]]'],
])('%s: %j is found, and how to mend it', async (name, change, remedy) => {
  const one = named(await diagnose(other(change)), name)
  expect(['fault', 'warning']).toContain(one.verdict)
  expect(one.remedy).toContain(remedy)
})

test('a transcoder that is away, and two of different versions', async () => {
  answering.mockImplementation(async (address) =>
    isSecond(address) ? new Response(null, { status: 502 }) : Response.json(health),
  )
  const found = await diagnose(other({}))
  expect(named(found, 'transcoders')).toMatchObject({ verdict: 'warning', message: expect.stringContaining('1 of 2') })
  expect(found.slots[1]).toEqual({ slot: 1, busy: false, running: false, transcoder: null })
  answering.mockImplementation(async (address) => Response.json({ ...health, version: isSecond(address) ? '2' : '1' }))
  expect(named(await diagnose(other({})), 'transcoders').message).toContain('version 1, 2, ffmpeg 7.1')
})

test('a missing secret is reported by /health, with the command to set it', async () => {
  for (const name of ['SERVICE_SECRET', 'VAULT_KEYS', 'ADMIN_KEY']) {
    const [status, answer] = await requestWithEnv(other({ [name]: undefined }), 'GET', '/health')
    expect(status).toBe(503)
    expect(answer.missing).toEqual([expect.stringContaining(`cloudflare -- secret put ${name}`)])
  }
})

test('a correct BASE_URL passes; API_KEY together with containers is reported', async () => {
  expect(named(await diagnose(other({ BASE_URL: BASE_URL })), 'settings').verdict).toBe('ok')
  const containers = await diagnose(other({ TRANSCODER_URLS: '', MAX_SLOTS: '1' }))
  expect(named(containers, 'settings')).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('API_KEY'),
  })
})
