// In charge of: the OpenAPI document: it is valid, and the service conforms to it. Every command of the reference is
// run unchanged, and its answer is checked against the schema and the example.
import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, beforeEach, describe, expect, test, type TestContext } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import type { RequestErrorCode } from '#contract/errorCodes.ts'
import * as example from '../../../../scripts/openapi/examples.ts'
import { operations } from '../../../../scripts/openapi/operations.ts'
import { complaintsOf } from '../../../../scripts/openapi/strictAnswers.ts'
import { findOnPath } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { skipTest } from '../../../support/requirement.ts'
import { runBash } from '../../../support/runProgram.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let media: PausableFileServer
let webhook: LoopbackServer
let document: any
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const curl = await findOnPath('curl')

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 320, height: 180, seconds: 1, audio: [2] })
  media = resources.use(await PausableFileServer.start(tempDir.file('film.mp4')))
  webhook = resources.use(
    await LoopbackServer.serve((request, response) => request.resume().on('end', () => response.end())),
  )
  service = resources.use(
    await Service.start({
      TRANSCODER_SECRET: 'a-secret-for-tests-of-32-letters',
      ALLOW_PRIVATE_HOSTS: `${media.host},${webhook.host}`,
      USAGE_PRICES: '{"currency":"EUR"}',
    }),
  )
  document = await (await fetch(`${service.base}/openapi.json`)).json()
  ajv.addSchema(document, 'doc')
})

function needsCurl(context: TestContext): void {
  if (curl === null) skipTest(context, 'curl is not installed')
}

/** Violations of the schema at a position of the document. */
function complaints(place: string[], value: unknown): unknown[] {
  const pointer = place.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
  const validateSchema = ajv.compile({ $ref: `doc#/${pointer.join('/')}` })
  return validateSchema(value) ? [] : (validateSchema.errors ?? [])
}

/** Every member with its path; only the first element of lists, so that an example and an answer can be compared. */
function members(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : members(value[0], `${path}[]`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [`${path}.${name}`, ...members(each, `${path}.${name}`)])
}

interface Told {
  status: number
  text: string
  json: any
}

/** Runs a command of the reference unchanged in a shell; a curl function of the same name separates the answer. */
async function shell(line: string, env: Record<string, string> = {}): Promise<Told> {
  const known = {
    BASE: service.base,
    KEY: service.ready.api_key,
    SPLICEPOINT_ADMIN_KEY: service.ready.admin_key,
    ...env,
  }
  const wrapped = `curl() { command curl -sS -o answer -w '%{http_code}' "$@"; }\n: > answer\n${line}`
  const { stdout: status } = await runBash(wrapped, { cwd: tempDir.path, env: known })
  const text = await readFile(tempDir.file('answer'), 'utf8')
  return { status: Number(status), text, json: /^[[{]/.test(text) ? JSON.parse(text) : null }
}

const sent = new Set<string>()

/** Runs a request of the reference; the answer must have the status, the format and the members that it shows. */
async function ask(name: string, names: Record<string, string | number> = {}): Promise<any> {
  const env = Object.fromEntries(Object.entries(names).map(([id, value]) => [id, String(value)]))
  const one = operations[name]!
  sent.add(name)
  const told = await shell(one.curl, env)
  expect(told.status, `${name}: ${told.text}`).toBe(one.status)
  if (one.answers?.type !== 'application/json') return told.text
  const [method = '', path = ''] = name.split(' ')
  const place = ['paths', path, method.toLowerCase(), 'responses', String(one.status)]
  expect(complaints([...place, 'content', 'application/json', 'schema'], told.json), name).toEqual([])
  expect(complaintsOf(one.answers.shape!, told.json), name).toEqual([])
  const free = /^\.config\.|\.status\.(outputs|warnings)|\.missing|\.attempts/
  const shape = (value: unknown) =>
    members(value)
      .filter((member) => !free.test(member))
      .toSorted()
  expect(shape(one.answers.example), `${name}: the example has the members of the answer`).toEqual(shape(told.json))
  return told.json
}

test('it is an OpenAPI 3.1 document by another program’s judgement', async () => {
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
})

test('every example is what its schema says, and there is one wherever JSON is answered', () => {
  for (const [path, methods] of Object.entries<any>(document.paths))
    for (const [method, one] of Object.entries<any>(methods)) {
      const parts = [
        ...Object.entries<any>(one.responses).map(([status, part]) => [['responses', status], part] as const),
        ...(one.requestBody ? [[['requestBody'], one.requestBody] as const] : []),
      ]
      for (const [place, part] of parts)
        for (const [type, { example: only, examples }] of Object.entries<any>(part.content ?? {})) {
          if (type !== 'application/json') continue
          const all = only === undefined ? Object.values<any>(examples ?? {}).map(({ value }) => value) : [only]
          expect(all.length, `${method} ${path} ${place.join(' ')}`).toBeGreaterThan(0)
          for (const value of all)
            expect(
              complaints(['paths', path, method, ...place, 'content', type, 'schema'], value),
              `${method} ${path} ${place.join(' ')}`,
            ).toEqual([])
        }
    }
})

test('every example has the members of its shape and no other', () => {
  const wrong = Object.values(operations).flatMap(({ answers }) =>
    answers?.shape === undefined ? [] : complaintsOf(answers.shape, answers.example),
  )
  expect(wrong).toEqual([])
})

test('its page loads and runs nothing from elsewhere, has nothing inline, and shows every operation', async () => {
  const response = await fetch(`${service.base}/docs`)
  const page = await response.text()
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<[^>]*\sstyle=|(?:src|href)="(?:https?:)?\/\//)
  for (const path of Object.keys(document.paths)) expect(page).toContain(path)
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  expect(targets.length).toBeGreaterThan(50)
  expect(targets.filter((id) => !page.includes(`id="${id}"`))).toEqual([])
  expect((await fetch(`${service.base}/docs.css`)).status).toBe(200)
})

describe('the commands of the reference, as they stand', () => {
  beforeEach(needsCurl)

  test('say what the service is', async () => {
    await ask('GET /health')
    await ask('GET /api/v0/limits')
    expect(await ask('GET /metrics')).toContain(example.metrics.split('\n')[0])
  })

  test('upload a file, make a job of it, read it, download it, delete it', async () => {
    const { uploaded_file_number: UPLOAD } = await ask('POST /uploads')
    expect(UPLOAD).toBe(1)
    await ask('GET /uploads')
    await ask('GET /uploads/{number}', { UPLOAD })
    const { _auto_generated_id_: JOB } = await ask('POST /api/v0/job')
    expect(await service.waitForEnd(JOB)).toMatchObject({ error: null })
    const { status } = await ask('GET /api/v0/job/{id}', { JOB })
    expect(members(status.outputs).toSorted()).toEqual(members(example.jobRead.status.outputs).toSorted())
    await ask('GET /api/v0/job')
    await ask('GET /api/v0/job/{id}/events', { JOB })
    const { attempts } = await ask('GET /api/v0/job/{id}/log', { JOB })
    expect(members(attempts).toSorted()).toEqual(members(example.jobLog.attempts).toSorted())
    await ask('GET /p/{grant}/{job}/{attempt}', { POSTER_URL: status.poster.url })
    await ask('GET /o/{grant}/{account}/{job}/{path}', { OUTPUT_URL: status.outputs[0].url })
    await ask('GET /a/{grant}/{account}/{job}/{name}', { ARCHIVE_URL: status.archive_url })
    const { share_id: SHARE, url: SHARE_URL } = await ask('POST /api/v0/job/{id}/share', { JOB })
    await ask('GET /api/v0/job/{id}/share', { JOB })
    for (const path of ['', '/embed', '/data']) await ask(`GET /s/{token}${path}`, { SHARE_URL })
    await ask('POST /s/{token}/data', { SHARE_URL })
    await ask('DELETE /api/v0/job/{id}/share/{share}', { JOB, SHARE })
    await ask('DELETE /api/v0/job/{id}', { JOB })
    await ask('DELETE /uploads/{number}', { UPLOAD })
  })

  test('upload in chunks', async () => {
    const { length } = await readFile(tempDir.file('film.mp4'))
    const begun = await service.call('/uploads', {
      method: 'POST',
      headers: { 'tus-resumable': '1.0.0', 'upload-length': String(length) },
    })
    const told = (await begun.json()) as { uploaded_file_number: number }
    expect(complaints(['components', 'schemas', 'Upload'], told)).toEqual([])
    await ask('PATCH /uploads/{number}', { UPLOAD: told.uploaded_file_number })
    const head = await shell(operations['HEAD /uploads/{number}']!.curl, {
      UPLOAD: String(told.uploaded_file_number),
    })
    sent.add('HEAD /uploads/{number}')
    expect(head.text.toLowerCase()).toContain(`upload-offset: ${length}\r`)
  })

  test('let a visitor upload, and end that', async () => {
    const { token_id: TOKEN_ID, token } = await ask('POST /api/v0/uploads/tokens')
    const headers = { authorization: `Bearer ${token}` }
    const sent = await fetch(`${service.base}/uploads`, { method: 'POST', body: 'a visitor’s file', headers })
    expect([sent.status, await sent.clone().text()]).toEqual([201, expect.any(String)])
    await ask('DELETE /api/v0/uploads/tokens/{token}', { TOKEN_ID })
  })

  test('save a preset, read it, replace it, delete it', async () => {
    const { preset_id: PRESET } = await ask('POST /api/v0/presets')
    await ask('GET /api/v0/presets')
    expect(await ask('GET /api/v0/presets/{preset}', { PRESET })).toMatchObject({ built_in: false })
    await ask('PUT /api/v0/presets/{preset}', { PRESET })
    await ask('DELETE /api/v0/presets/{preset}', { PRESET })
  })

  test('cancel a job and run it again', async () => {
    media.pauseAt(0.3)
    const JOB = await service.create(jobRequest(media.url, 'http'))
    await ask('POST /api/v0/job/{id}/cancel', { JOB })
    media.resume()
    const again = await ask('POST /api/v0/job/{id}/retry', { JOB })
    expect(again.retry_of).toBe(JOB)
    await service.waitForEnd(again._auto_generated_id_)
  })

  test('list webhook deliveries, and replay one', async () => {
    await ask('GET /api/v0/webhooks/secret')
    await ask('POST /api/v0/webhooks/secret/rotate')
    const JOB = await service.create(jobRequest(media.url, 'http', { webhook_url: `http://${webhook.host}/hook` }))
    await service.waitForEnd(JOB)
    await waitFor('the webhook', async () => {
      const { deliveries }: any = await (await service.call(`/api/v0/job/${JOB}/webhooks`)).json()
      return deliveries[0]?.state === 'delivered'
    })
    const { deliveries } = await ask('GET /api/v0/job/{id}/webhooks', { JOB })
    expect(members(deliveries).toSorted()).toEqual(members([example.delivery]).toSorted())
    await ask('POST /api/v0/job/{id}/webhooks/{webhook}/replay', { JOB, WEBHOOK: deliveries[0].id })
  })

  test('administer keys, accounts and the vault', async () => {
    const { id, key } = await ask('POST /api/v0/keys')
    expect(key.startsWith(`${id}.`)).toBe(true)
    await ask('GET /api/v0/keys')
    await ask('PATCH /api/v0/keys/{key}', { KEY_ID: id })
    const { id: KEY_ID } = await ask('POST /api/v0/keys/{key}/rotate', { KEY_ID: id })
    await ask('DELETE /api/v0/keys/{key}', { KEY_ID })
    await ask('PUT /api/v0/accounts/{account}')
    await ask('GET /api/v0/accounts')
    await ask('GET /api/v0/transcoders')
    await ask('PUT /api/v0/accounts/{account}/spend-cap')
    await shell(
      'curl -u "$SPLICEPOINT_ADMIN_KEY:" -X PUT --json \'{"spend_cap": 5}\' "$BASE/api/v0/accounts/default/spend-cap"',
    )
    await ask('GET /api/v0/usage')
    await ask('GET /api/v0/usage/accounts')
    await ask('POST /api/v0/vault/rotate')
    await ask('POST /api/v0/diagnosis')
  })

  test('are all there are', () => {
    expect(Object.keys(operations).filter((name) => !sent.has(name))).toEqual([])
  })
})

describe('what the service says of a mistake is the example of its code', () => {
  beforeEach(needsCurl)
  const chunk = (headers: string) =>
    `U=$(command curl -sS -u "$KEY:" -X POST -H "Tus-Resumable: 1.0.0" -H "Upload-Length: 7" "$BASE/uploads" | grep -o '[0-9]*' | head -1)
printf x | curl -u "$KEY:" -X PATCH -H "Tus-Resumable: 1.0.0" -H "Content-Type: application/offset+octet-stream" ${headers} --data-binary @- "$BASE/uploads/$U"`
  const wrong = JSON.stringify({ ...example.job, video_codec: 'vp9' })
  const issue = `command curl -sS -u "$SPLICEPOINT_ADMIN_KEY:" --json '{"account": "limited", "requests_per_minute": 1}' "$BASE/api/v0/keys" | grep -o '"key":"[^"]*"' | cut -d '"' -f 4`

  test.each<[RequestErrorCode, string]>([
    ['invalid_request', `curl -u "$KEY:" --json '${wrong}' "$BASE/api/v0/job"`],
    ['unauthorized', 'curl "$BASE/api/v0/job"'],
    ['forbidden', 'curl -u "$KEY:" "$BASE/api/v0/keys"'],
    ['not_found', 'curl -u "$KEY:" "$BASE/api/v0/job/999"'],
    ['method_not_allowed', 'curl -u "$KEY:" -X PUT "$BASE/api/v0/job"'],
    ['conflict', chunk('-H "Upload-Offset: 7"')],
    ['checksum_mismatch', chunk('-H "Upload-Offset: 0" -H "Upload-Checksum: md5 MTIzNDU2Nzg5MDEyMzQ1Ng=="')],
    [
      'idempotency_conflict',
      `command curl -sS -o first -u "$KEY:" -H 'Idempotency-Key: one' --json "$WEB" "$BASE/api/v0/job?dry_run=true"
curl -u "$KEY:" -H 'Idempotency-Key: one' --json "$WEB" "$BASE/api/v0/job"`,
    ],
    [
      'gone',
      `U=$(command curl -sS -u "$KEY:" -X POST -H "Tus-Resumable: 1.0.0" -H "Upload-Length: 7" "$BASE/uploads" | grep -o '[0-9]*' | head -1)
command curl -sS -u "$KEY:" -X DELETE -H "Tus-Resumable: 1.0.0" "$BASE/uploads/$U"
printf x | curl -u "$KEY:" -X PATCH -H "Tus-Resumable: 1.0.0" -H "Content-Type: application/offset+octet-stream" -H "Upload-Offset: 0" --data-binary @- "$BASE/uploads/$U"`,
    ],
    [
      'length_required',
      'curl -u "$KEY:" -X POST -H "Transfer-Encoding: chunked" --data-binary @film.mp4 "$BASE/uploads"',
    ],
    ['unsupported_version', 'curl -u "$KEY:" -X POST -H "Tus-Resumable: 2.0.0" "$BASE/uploads"'],
    ['too_large', 'head -c 262145 /dev/zero | curl -u "$KEY:" --json @- "$BASE/api/v0/job"'],
    ['unsupported_media_type', `curl -u "$KEY:" -d '{}' "$BASE/api/v0/job"`],
    [
      'rate_limited',
      `L=$(${issue})\ncommand curl -sS -o first -u "$L:" "$BASE/api/v0/job"\ncurl -u "$L:" "$BASE/api/v0/job"`,
    ],
    [
      'quota_exceeded',
      `command curl -sS -o first -u "$SPLICEPOINT_ADMIN_KEY:" -X PUT --json '{"max_active_jobs": 0}' "$BASE/api/v0/accounts/full"
L=$(command curl -sS -u "$SPLICEPOINT_ADMIN_KEY:" --json '{"account": "full"}' "$BASE/api/v0/keys" | grep -o '"key":"[^"]*"' | cut -d '"' -f 4)
curl -u "$L:" --json "$WEB" "$BASE/api/v0/job"`,
    ],
  ])('%s', async (code, line) => {
    const { status, json } = await shell(line, { WEB: JSON.stringify(jobRequest(media.url, 'http')) })
    expect(json).toEqual({ error: { code, ...example.errors[code], ...errorHelp(code) } })
    expect(complaints(['components', 'schemas', 'Error'], json)).toEqual([])
    expect(complaintsOf('Error', json)).toEqual([])
    expect(status).toBe(requestStatus(code))
  })

  test('of a job that has ended, of one that has not, and of a range', async () => {
    media.pauseAt(0.3)
    const JOB = await service.create(jobRequest(media.url, 'http'))
    const active = await shell('curl -u "$KEY:" -X DELETE "$BASE/api/v0/job/$JOB"', { JOB: String(JOB) })
    expect(active.json).toMatchObject({ error: { code: 'job_active', ...example.errors.job_active } })
    media.resume()
    await service.waitForEnd(JOB)
    const over = await shell('curl -u "$KEY:" -X POST "$BASE/api/v0/job/$JOB/cancel"', { JOB: String(JOB) })
    expect(over.json).toMatchObject({ error: { code: 'job_finished', ...example.errors.job_finished } })
    const { outputs } = (await service.status(JOB))!
    const beyond = await shell('curl -H "Range: bytes=99999999-" "$URL"', { URL: outputs[0]!.url! })
    expect(beyond.json.error).toMatchObject({
      code: 'range_not_satisfiable',
      message: example.errors.range_not_satisfiable.message.replace('512340', String(outputs[0]!.size)),
    })
  })
})

const requestStatus = (code: RequestErrorCode): number =>
  Number(
    Object.entries<any>(document.paths)
      .flatMap(([, methods]) => Object.values<any>(methods))
      .flatMap(({ responses }) => Object.entries<any>(responses))
      .find(([, { description }]) => String(description).split(', ').includes(code))?.[0] ??
      (code === 'method_not_allowed' ? 405 : 0),
  )
