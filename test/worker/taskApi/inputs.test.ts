// In charge of: jobs with `inputs`: each piece is read with its own credentials and from no other address, its errors name
// it, nothing shows its secrets; uploads, retries, lists and searches of such jobs.
// Not in charge of: the request (test/node/contract/job/inputs.test.ts), providers (test/worker/storage).
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcile } from '../../../worker/reconciler.ts'
import { apiRequest, createJob, createKey, jobBody, postJson, readJson } from '../support/apiClient.ts'
import { advanceClock, readStatus, startJob, startNextAttempt } from '../support/jobFixture.ts'

const HOUR = 3600_000

interface Seen {
  host: string
  path: string
  authorization: string | null
}
let requests: Seen[]
/** The body of each file by its path; absent = 404. */
let files: Record<string, string>

beforeEach(() => {
  requests = []
  files = { '/bumper.mp4': 'bumper', '/film.mp4': 'the film', '/credits.mp4': 'credits' }
  const dispatch = globalThis.fetch
  vi.stubGlobal('fetch', async (input: RequestInfo, init?: RequestInit) => {
    const request = new Request(input, init)
    const { hostname: host, pathname: path, search } = new URL(request.url)
    if (host.startsWith('transcoder')) return dispatch(input, init)
    requests.push({ host, path: path + search, authorization: request.headers.get('authorization') })
    const body = files[path]
    if (body === undefined) return new Response(null, { status: 404 })
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '')
    const headers = { etag: '"1"', 'content-length': String(body.length) }
    if (range === null) return new Response(request.method === 'HEAD' ? null : body, { headers })
    const [first, last] = [Number(range[1]), Math.min(Number(range[2]), body.length - 1)]
    const part = body.slice(first, last + 1)
    return new Response(part, {
      status: 206,
      headers: {
        etag: '"1"',
        'content-length': String(part.length),
        'content-range': `bytes ${first}-${last}/${body.length}`,
      },
    })
  })
})

const http = (name: string) => ({ cloud_provider: 'http', access_key: name, secret_key: `PASSWORD-OF-${name}` })
const basic = (name: string) => `Basic ${btoa(`${name}:PASSWORD-OF-${name}`)}`
const vendor = { cloud_provider: 'vendor-store' }

/** Two servers, each with its own credentials and a query in its address. */
const joined = {
  input: undefined,
  inputs: [
    { input: 'https://hooks.test/bumper.mp4?token=QUERY-ONE', end_seconds: 5 },
    { input: 'https://logo.test/film.mp4?token=QUERY-TWO' },
  ],
  cloud_credentials: { inputs: [http('first'), http('second')], output: vendor },
}
const SECRETS = ['QUERY-ONE', 'QUERY-TWO', 'PASSWORD-OF-first', 'PASSWORD-OF-second']

const configOf = (id: number) => env.DB.prepare('SELECT config FROM jobs WHERE id = ?').bind(id).first<string>('config')

/** A direct write to the database. */
async function changeConfig(id: number, change: (config: any) => void): Promise<void> {
  const config = JSON.parse((await configOf(id)) ?? '')
  change(config)
  await env.DB.prepare('UPDATE jobs SET config = ? WHERE id = ?').bind(JSON.stringify(config), id).run()
}

describe('a piece of the source', () => {
  test('is read at its number, in ranges, with its own credentials and its whole address', async () => {
    const { attempt } = await startJob(joined)
    const second = await attempt.taskApi('GET', '/input/1', undefined, { range: 'bytes=4-7' })
    expect([second.status, second.headers.get('content-range'), await second.text()]).toEqual([
      206,
      'bytes 4-7/8',
      'film',
    ])
    expect(await (await attempt.taskApi('GET', '/input')).text()).toBe('bumper')
    expect(await (await attempt.taskApi('GET', '/input/0')).text()).toBe('bumper')
    const head = await attempt.taskApi('HEAD', '/input/1')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '8'])
    const first = { host: 'hooks.test', path: '/bumper.mp4?token=QUERY-ONE', authorization: basic('first') }
    const other = { host: 'logo.test', path: '/film.mp4?token=QUERY-TWO', authorization: basic('second') }
    expect(new Set(requests.map((each) => JSON.stringify(each)))).toEqual(
      new Set([first, other].map((each) => JSON.stringify(each))),
    )
  })

  test('has a number below the number of pieces', async () => {
    const { attempt } = await startJob(joined)
    expect((await attempt.taskApi('GET', '/input/2')).status).toBe(404)
    expect((await attempt.taskApi('GET', '/input/100')).status).toBe(404)
    const { attempt: single } = await startJob()
    expect((await single.taskApi('GET', '/input/1')).status).toBe(404)
    expect(requests).toEqual([])
  })

  test('is named by its errors: not there, refused, unreachable', async () => {
    delete files['/film.mp4']
    const { id, attempt } = await startJob(joined)
    const missing = await (await attempt.taskApi('GET', '/input/1')).json<any>()
    expect(missing.error).toMatchObject({ code: 'source_not_found', field: 'inputs[1].input' })
    await attempt.fail(missing.error.code, missing.error)
    expect((await readStatus(id)).error).toMatchObject({ code: 'source_not_found', field: 'inputs[1].input' })
  })

  test('is not read for the attempt of another job', async () => {
    const { attempt } = await startJob(joined)
    const { attempt: other } = await startJob()
    const url = `https://service.test/task/${attempt.run.task_id}/input/1`
    const refused = await apiRequest(new URL(url).pathname, {
      headers: { authorization: `Bearer ${other.run.token}` },
    })
    expect(refused.status).toBe(401)
    expect(requests).toEqual([])
  })
})

test('errors about the only element of inputs have its path', async () => {
  const { id, attempt } = await startJob({
    input: undefined,
    inputs: [{ input: joined.inputs[0]?.input, end_seconds: 5 }],
  })
  await attempt.fail('cut_outside_source', { message: 'It is outside.', field: 'end_seconds' })
  expect((await readStatus(id)).error).toMatchObject({ code: 'cut_outside_source', field: 'inputs[0].end_seconds' })
})

describe('a row that was changed in the database', () => {
  test.each<[string, (config: any) => void]>([
    ['another host for a piece', (config) => (config.inputs[1].input = 'https://thief.test/film.mp4?…')],
    ['the pieces exchanged', (config) => (config.inputs = config.inputs.toReversed())],
    ['a piece left out', (config) => config.inputs.shift()],
    ['a piece added', (config) => config.inputs.push({ input: 'https://thief.test/film.mp4' })],
    ['one input instead of several', (config) => ((config.input = config.inputs[0].input), delete config.inputs)],
    ['another provider', (config) => (config.cloud_credentials.inputs[0].cloud_provider = 'aws')],
  ])('sends no credentials: %s', async (_title, change) => {
    const { id, attempt } = await startJob(joined)
    await changeConfig(id, change)
    const { error } = await (await attempt.taskApi('GET', '/input')).json<any>()
    expect(error.code).toBe('credentials_invalid')
    expect(error.message).toContain('differ from those that its credentials were given for')
    expect(requests).toEqual([])
  })
})

test('no secret of a piece is in the job, in lists, in its log or in clear in the database', async () => {
  const { id, attempt } = await startJob(joined)
  const message = `opened ${joined.inputs[1]?.input} and ${joined.inputs[0]?.input} with ${SECRETS.slice(2).join(' ')}`
  const log = { engine: '5.1', commands: [], lines: [{ time: '2026-11-21T10:00:00.000Z', level: 'info', message }] }
  const sent = await attempt.taskApi('PUT', '/log', log)
  expect(sent.status, await sent.clone().text()).toBe(200)
  const shown = await Promise.all(
    [`/api/v0/job/${id}`, `/api/v0/job/${id}/log`, `/api/v0/job/${id}/events`, '/api/v0/job?limit=1'].map(
      async (path) => (await apiRequest(path)).text(),
    ),
  )
  const row = JSON.stringify(await env.DB.prepare('SELECT * FROM jobs WHERE id = ?').bind(id).first())
  for (const text of [...shown, row]) for (const secret of SECRETS) expect(text).not.toContain(secret)
  expect(shown[1]).toContain('opened')
  expect(shown[1]).not.toContain('logo.test')
})

test('a list names all sources, and a search finds each', async () => {
  const id = await createJob(joined)
  const inputs = ['https://hooks.test/bumper.mp4?…', 'https://logo.test/film.mp4?…']
  const [listed] = (await readJson('/api/v0/job?limit=1')).jobs
  expect(listed).toMatchObject({ input: inputs[0], inputs, status: { input_name: 'bumper.mp4' } })
  const found = (await readJson('/api/v0/job?search=logo.test/film')).jobs
  expect(found.map((job: any) => job._auto_generated_id_)).toContain(id)
  const { config } = await readJson(`/api/v0/job/${id}`)
  expect(config.inputs).toEqual([{ input: inputs[0], end_seconds: 5 }, { input: inputs[1] }])
})

test('each upload that is a piece must exist and belong to the account', async () => {
  const upload = async (init: { key?: string } = {}) => {
    const sent = { method: 'POST', body: 'hello', headers: { 'content-length': '5' }, ...init }
    return (await (await apiRequest('/uploads', sent)).json<any>()).uploaded_file_number as number
  }
  const [own, foreign] = [await upload(), await upload({ key: (await createKey()).key })]
  const cloud_credentials = { input: { cloud_provider: 'file-upload' } }
  const body = (...numbers: number[]) =>
    jobBody({ input: undefined, inputs: numbers.map((number) => ({ input: String(number) })), cloud_credentials })
  const refused = await postJson('/api/v0/job', body(own, foreign, 9999))
  const { error } = await refused.json<any>()
  expect([refused.status, error.details]).toMatchObject([
    400,
    [
      { code: 'upload_not_found', field: 'inputs[1].input' },
      { code: 'upload_not_found', field: 'inputs[2].input' },
    ],
  ])
  const { attempt } = await startJob({ input: undefined, ...body(own, own) })
  expect(await (await attempt.taskApi('GET', '/input/1')).text()).toBe('hello')
})

describe('a retry', () => {
  const failed = async () => {
    const { id, attempt } = await startJob(joined)
    await attempt.fail('source_not_media')
    return id
  }
  const retry = async (id: number, body: unknown) => postJson(`/api/v0/job/${id}/retry`, body)

  test('reads the same pieces with the same credentials', async () => {
    const id = await failed()
    const made = await (await retry(id, {})).json<any>()
    expect(await configOf(made._auto_generated_id_)).toBe(await configOf(id))
    const attempt = await startNextAttempt()
    expect(await (await attempt.taskApi('GET', '/input/1')).text()).toBe('the film')
    expect(requests).toMatchObject([{ path: '/film.mp4?token=QUERY-TWO', authorization: basic('second') }])
  })

  test('72 hours later asks for credentials and for each address that had a query', async () => {
    const id = await failed()
    advanceClock(73 * HOUR)
    await reconcile(env, Infinity)
    const { cloud_credentials, inputs } = joined
    const without = await (await retry(id, { cloud_credentials })).json<any>()
    expect(without.error).toMatchObject({ code: 'credentials_expired', field: 'inputs[0].input' })
    const half = await (await retry(id, { cloud_credentials, inputs: [{ input: inputs[0]?.input }, null] })).json<any>()
    expect(half.error).toMatchObject({ code: 'credentials_expired', field: 'inputs[1].input' })
    const sent = inputs.map(({ input }) => ({ input }))
    const answer = await retry(id, { cloud_credentials, inputs: sent })
    expect(answer.status, await answer.clone().text()).toBe(200)
    const made = await answer.json<any>()
    const [before, after] = await Promise.all([id, made._auto_generated_id_].map(configOf))
    expect(JSON.parse(after ?? '')).toEqual(JSON.parse(before ?? ''))
  })

  test.each<[string, unknown]>([
    ['input', { input: 'https://media.test/other.mp4' }],
    ['inputs', { inputs: [{ input: 'https://media.test/other.mp4' }] }],
  ])('cannot change the number of sources by %s', async (field, body) => {
    const answer = await retry(await failed(), body)
    expect([answer.status, (await answer.json<any>()).error]).toMatchObject([400, { field }])
  })
})
