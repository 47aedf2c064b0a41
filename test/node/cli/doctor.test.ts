// In charge of: `splicepoint doctor` without a real service: the report about addresses that are each wrong in one way,
// and the video that it generates.
// Not in charge of: jobs through a service (node/service/cli/doctor.long.test.ts), what the service finds
// (worker/service/diagnosis.test.ts).
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Check } from '#contract/api/diagnosis.ts'
import { createTestClip } from '../../../cli/doctor/testClip.ts'
import { parseTargetStore } from '../../../cli/doctor/targetStore.ts'
import { decodeFrames, probeStream, tempDirectory } from '../../support/media/media.ts'

const LAUNCHER = resolve(import.meta.dirname, '../../../cli/splicepoint.js')

interface Ran {
  code: number
  stdout: string
  stderr: string
}

function doctor(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const clean = { SPLICEPOINT_URL: '', SPLICEPOINT_KEY: '', SPLICEPOINT_ADMIN_KEY: '' }
  const known = Object.fromEntries(
    Object.entries({ ...process.env, ...clean, ...env }).filter(([, value]) => value !== ''),
  )
  return new Promise((done) => {
    execFile(process.execPath, [LAUNCHER, 'doctor', ...args], { env: known }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

test.each([
  [[], /address of a service/],
  [['ftp://x'], /the form https:/],
  [['https://x.example', '--timeout', 'long'], /--timeout/],
  [['https://x.example', '--store', 'gs://b/p'], /s3:\/\/bucket\/prefix/],
  [['https://x.example', '--store', 's3://b/p'], /AWS_ACCESS_KEY_ID/],
])('%j is wrong usage: exit code 2', async (args, says) => {
  expect(await doctor(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) })
})

describe('an address', () => {
  let server: Server
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let base: string
  beforeEach(async () => {
    server = createServer((request, response) => answer(request.resume(), response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })

  const health = {
    status: 'ok',
    missing: [],
    version: '1.2.3',
    slots: 2,
    transcoders: 'containers',
    egress: 'platform',
  }
  const diagnosis = { checks: [{ name: 'queue', verdict: 'ok', message: 'It answers.', remedy: null }] }
  const plain =
    (status: number, body: string, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, headers).end(body)
  const json = (body: object, status = 200) =>
    plain(status, JSON.stringify(body), { 'content-type': 'application/json' })
  const refused = (status: number, code: string) => json({ error: { code, message: 'No.' } }, status)

  /** A healthy service, except for the changes of a test. */
  function serve(change: Record<string, (response: ServerResponse) => void> = {}): void {
    const whole: typeof change = {
      '/health': json(health),
      '/api/v0/diagnosis': json(diagnosis),
      '/api/v0/job': json({ jobs: [], next_cursor: null }),
    }
    answer = (request, response) => {
      const { pathname } = new URL(request.url ?? '', base)
      ;({ ...whole, ...change })[pathname]?.(response)
    }
  }

  const both = { SPLICEPOINT_KEY: 'sp_jobs', SPLICEPOINT_ADMIN_KEY: 'admin' }
  async function wrong(env: Record<string, string> = both): Promise<{ code: number; checks: Check[] }> {
    const { code, stdout } = await doctor([base, '--no-jobs', '--json'], env)
    const sections: Check[][] = Object.values(JSON.parse(stdout).sections)
    return { code, checks: sections.flat().filter(({ verdict }) => verdict !== 'ok') }
  }

  test('that is as it should be: exit code 0, one line for each check', async () => {
    serve()
    const { code, stdout } = await doctor([base, '--no-jobs'], both)
    expect(code).toBe(0)
    expect(stdout).toMatch(/reached +Version 1\.2\.3 answers/)
    expect(stdout).toMatch(/\n0 faults, 0 warnings, 4 ok\.\n$/)
  })

  test.each<[what: string, name: string, remedy: RegExp, change: Parameters<typeof serve>[0]]>([
    [
      'leads elsewhere',
      'reached',
      /https:\/\/other\.example$/,
      { '/health': plain(301, '', { location: 'https://other.example/health' }) },
    ],
    ['is another service', 'reached', /route/, { '/health': plain(200, 'hello') }],
    [
      'lacks a secret',
      'health',
      /secret put VAULT_KEYS/,
      { '/health': json({ ...health, status: 'not_ready', missing: ['the secret VAULT_KEYS is not set (…)'] }, 503) },
    ],
    [
      'lacks its tables',
      'health',
      /migrations apply DB --remote/,
      { '/health': json({ ...health, status: 'not_ready', missing: ['the database lacks tables (…)'] }, 503) },
    ],
    ['cannot start', 'health', /log/, { '/health': json({ ...health, status: 'degraded', starts_failing: 3 }) }],
    [
      'has no transcoder',
      'health',
      /api\/v0\/transcoders/,
      { '/health': json({ ...health, status: 'degraded', slots: 0 }) },
    ],
    ['does not know the key', 'key', /Issue one/, { '/api/v0/job': refused(401, 'unauthorized') }],
    [
      'does not know the admin key',
      'admin_key',
      /SPLICEPOINT_ADMIN_KEY/,
      { '/api/v0/diagnosis': refused(401, 'unauthorized') },
    ],
    ['cannot diagnose itself', 'diagnosis', /log of the Worker/, { '/api/v0/diagnosis': refused(500, 'internal') }],
  ])('that %s', async (_what, name, remedy, change) => {
    serve(change)
    const { code, checks } = await wrong()
    expect(checks).toEqual([expect.objectContaining({ name, verdict: 'fault', remedy: expect.stringMatching(remedy) })])
    expect(code).toBe(1)
  })

  test('when no server listens', async () => {
    await new Promise((done) => server.close(done))
    expect((await wrong()).checks).toMatchObject([
      { name: 'reached', verdict: 'fault', message: expect.stringContaining('ECONNREFUSED') },
    ])
    server.listen(0)
    await once(server, 'listening')
  })

  test('without an admin key: a diagnosis that is refused is skipped, not reported as a fault', async () => {
    serve({ '/api/v0/diagnosis': refused(403, 'forbidden') })
    expect(await wrong({ SPLICEPOINT_KEY: 'sp_jobs' })).toMatchObject({
      code: 0,
      checks: [{ name: 'admin_key', verdict: 'skipped' }],
    })
  })
})

test('the generated clip is valid: every video frame and audio sample decodes', async () => {
  await using directory = await tempDirectory()
  const path = directory.file('clip.avi')
  await writeFile(path, createTestClip({ width: 320, height: 180, framesPerSecond: 25, seconds: 2 }))
  expect(await decodeFrames(path)).toHaveLength(50)
  expect(await probeStream(path, 'video')).toMatchObject({ codec_name: 'png', width: 320, height: 180 })
  expect(await probeStream(path, 'audio')).toMatchObject({ codec_name: 'pcm_s16le', sample_rate: '48000' })
})

test('a store is named as Amazon names it, or by its endpoint', () => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' }
  expect(parseTargetStore('s3://films/in/', 'run', env)).toMatchObject({
    name: 'store s3://films/in',
    outputPath: 's3://films/in/run',
    credentials: { cloud_provider: 'aws', access_key: 'id', secret_key: 'secret', region: 'eu-west-1' },
  })
  expect(parseTargetStore('s3://films', 'run', { ...env, AWS_ENDPOINT_URL: 'https://s3.example/' })).toMatchObject({
    outputPath: 's3://films/run',
    credentials: { endpoint: 'https://s3.example' },
  })
})
