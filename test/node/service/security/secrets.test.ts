// In charge of: secrets never leave the service (I15): canaries in every field that takes a secret, jobs with every
// possible end, and then a search through everything that is stored, logged, answered, sent, or visible in /proc.
// Not in charge of: whether the stores accept the credentials (../stores).
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { FakeGoogle } from '../../../fakes/googleStorage.ts'
import { generateRsaKey } from '../../../fakes/rsaKeys.ts'
import { FakeOracle } from '../../../fakes/oracleStorage.ts'
import { FakeServer } from '../../../fakes/httpServer.ts'
import type { FakeAnswer, FakeRequest } from '../../../fakes/objectServer.ts'
import { FakeS3 } from '../../../fakes/s3.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { ffmpeg, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { Canaries, canary } from './canaries.ts'
import { readFilesBelow, ProcessWatcher } from './serviceTraces.ts'
import { segmentHls, serveFiles } from '../../../support/media/hlsClips.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import { WebSite } from '../../../support/http/webSite.ts'

const secrets = new Canaries()
const made = (name: string): string => secrets.add(name, canary(name))
const region = 'eu-frankfurt-1'
const namespace = 'axaxnpcrorw5'
const tenancy = 'ocid1.tenancy.oc1..aaaa'
const user = 'ocid1.user.oc1..aaaa'
const email = 'films@project.iam.gserviceaccount.com'
const aws = { accessKey: made('AKIA'), secretKey: made('awsSecret'), token: made('awsToken') }
const oracleKey = { accessKey: made('ociAccess'), secretKey: made('ociSecret') }
const googleKey = { accessKey: made('GOOG'), secretKey: made('googSecret') }
const basic = { user: made('basicUser'), password: made('basicPassword') }
const target = { user: made('targetUser'), password: made('targetPassword') }
const brought = { user: made('broughtUser'), password: made('broughtPassword') }
const query = {
  input: made('inputQuery'),
  logo: made('logoQuery'),
  hook: made('hookQuery'),
  keyHook: made('keyHookQuery'),
  lost: made('lostQuery'),
  segment: made('segmentQuery'),
  segmentKey: made('segmentKeyQuery'),
}
/** AES-128 keys have 16 bytes. */
const segmentKey = secrets.add('segmentKey', canary('').slice(0, 16))
const pem = await generateRsaKey()
const pemOfGoogle = await generateRsaKey()
for (const [name, key] of Object.entries({ pem, pemOfGoogle })) {
  for (const line of key.pem.split('\n').slice(1, -2)) secrets.add(name, line)
}
const parsed = readPem(pem.pem)
const fingerprint = parsed.ok ? parsed.key.fingerprint : ''

const s3 = new FakeS3({ accounts: [aws], buckets: ['films'], region: 'eu-west-1' })
const oracle = new FakeOracle({
  namespace,
  bucket: 'Films',
  host: `objectstorage.${region}.oraclecloud.com`,
  keys: new Map([[`${tenancy}/${user}/${fingerprint}`, pem.publicKey]]),
})
const compatible = new FakeS3({ accounts: [oracleKey], buckets: ['Films'], region })
const google = new FakeGoogle({
  bucket: 'films.example',
  accounts: [{ email, keyId: 'kid1', publicKey: pemOfGoogle.publicKey }],
  pairs: [googleKey],
})
const hooks: FakeRequest[] = []
const hosts: Record<string, (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>> = {
  's3.test': async (request) => s3.handle(request),
  [`objectstorage.${region}.oraclecloud.com`]: oracle.handle,
  [`${namespace}.compat.objectstorage.${region}.oraclecloud.com`]: async (request) => compatible.handle(request),
  'storage.googleapis.com': google.handle,
  'oauth2.googleapis.com': google.handle,
  'hooks.test': (request) => {
    hooks.push(request)
    return { status: 200, headers: {}, body: '' }
  },
}

let service: Service
let server: FakeServer
let site: WebSite
let drop: WebSite
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let held: Promise<void> | null = null
let release: () => void = () => undefined
let arrived = 0
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const bytes = await readFile(
    await makeClip(tempDir.file('clip.mp4'), { seconds: 1, flags: ['-movflags', '+faststart'] }),
  )
  await ffmpeg(['-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1', tempDir.file('logo.png')])
  s3.put('films/in.mp4', bytes, 'video/mp4')
  oracle.put('in.mp4', bytes, 'video/mp4')
  compatible.put('Films/in.mp4', bytes, 'video/mp4')
  google.store.put('films.example/in.mp4', bytes, 'video/mp4')
  site = resources.use(await WebSite.start({ basic: `${basic.user}:${basic.password}` }))
  site.files.set('/in.mp4', bytes)
  drop = resources.use(await WebSite.start({ basic: `${target.user}:${target.password}` }))
  await publishHls(tempDir.file('clip.mp4'))
  const logo = await readFile(tempDir.file('logo.png'))
  hosts['logo.test'] = () => ({ status: 200, headers: { 'content-type': 'image/png' }, body: logo })
  server = resources.use(
    await FakeServer.start(async (request) => {
      arrived++
      await held
      return (await hosts[request.headers.get('host') ?? '']?.(request)) ?? { status: 421, headers: {}, body: '' }
    }),
  )
  const names = Object.keys(hosts).map((host) => `${host}:443=${server.host}`)
  service = resources.use(
    await Service.start({ CONNECT_TO: names.join(','), ALLOW_PRIVATE_HOSTS: `${site.host},${drop.host}` }),
  )
  const own = JSON.parse(await readFile(join(service.stateDir, 'secrets.json'), 'utf8')) as Record<string, string>
  for (const [name, value] of Object.entries(own)) secrets.add(name, value.replace(/^k1:/, ''))
})

/** Encrypted HLS whose key and segments require queries of their own. */
async function publishHls(clip: string): Promise<void> {
  const directory = tempDir.file('hls')
  await mkdir(directory)
  await writeFile(join(directory, 'secret.key'), segmentKey)
  await writeFile(join(directory, 'key.info'), `secret.key?k=${query.segmentKey}\n${join(directory, 'secret.key')}`)
  await segmentHls(clip, directory, 'film', { flags: ['-hls_key_info_file', join(directory, 'key.info')] })
  await serveFiles(directory, site.files, '/hls')
  const list = site.files.get('/hls/film.m3u8')!.toString()
  site.files.set('/hls/film.m3u8', Buffer.from(list.replace(/^(film\d+\.ts)$/gm, `$1?s=${query.segment}`)))
}

const pair = ({ accessKey, secretKey }: { accessKey: string; secretKey: string }): object => ({
  access_key: accessKey,
  secret_key: secretKey,
})
const ofAws = {
  cloud_provider: 'aws',
  ...pair(aws),
  session_token: aws.token,
  region: 'eu-west-1',
  endpoint: 'https://s3.test',
}
const ofOracle = {
  cloud_provider: 'oracle',
  region,
  tenancy_ocid: tenancy,
  user_ocid: user,
  oci_fingerprint: fingerprint,
  private_key: pem.pem,
}
const ofGoogle = {
  cloud_provider: 'gcloud',
  client_email: email,
  private_key_id: 'kid1',
  private_key: pemOfGoogle.pem,
}
const ofTarget = { cloud_provider: 'http', access_key: target.user, secret_key: target.password }
const ofBasic = { cloud_provider: 'http', access_key: basic.user, secret_key: basic.password }
const webhookValue = `https://hooks.test/in?token=${query.hook}`
const both = (input: object, output: object = input): object => ({ cloud_credentials: { input, output } })
const toS3 = { bucket_output_path: 's3://films/out', ...both(ofAws) }
const segmented = { output_container: 'hls', create_tar_file: true }

test('a search finds what it looks for in every form', () => {
  const known = new Canaries()
  const value = known.add('it', 'a+b/c d\n"Geheimnis"')
  const planted: [string, string | Buffer][] = [
    ['raw', `x${value}x`],
    ['escaped', JSON.stringify({ value })],
    ['url', `?a=${encodeURIComponent(value)}&`],
    ['hex', Buffer.from(`-${value}-`).toString('hex')],
    ['base64+0', Buffer.from(`${value}tail`).toString('base64')],
    ['base64+1', Buffer.from(`abcd${value}tail`).toString('base64')],
    ['base64url+2', Buffer.from(`ab${value}`).toString('base64url')],
  ]
  for (const [form, text] of planted) {
    expect(known.findIn(Buffer.from(text)).map((found) => found.form)).toContain(form)
  }
  expect(known.findIn(Buffer.from('a+b/c d "Geheimnis"'))).toEqual([])
  expect(known.findIn(Buffer.from(`x 3.1790000000000.${'A'.repeat(43)} x`))).toMatchObject([
    { canary: 'attempt token' },
  ])
})

test('nothing that can be looked at holds a secret, however jobs end', { timeout: 600_000 }, async () => {
  using watch = new ProcessWatcher(service.ready.pids.start)
  const answers: string[] = []
  const ask = async (path: string, init: RequestInit = {}): Promise<any> => {
    const response = await service.call(path, init)
    const text = await response.text()
    // A presigned address contains the access key id; nothing else may.
    const withoutKeyIds = text.replaceAll(/(?<=[?&]X-Amz-Credential=)\w+(?=%2F)/g, '')
    answers.push(`${path} ${JSON.stringify([...response.headers])} ${withoutKeyIds}`)
    return text.startsWith('{') ? { status: response.status, ...JSON.parse(text) } : { status: response.status }
  }
  const send = (body: unknown, search = ''): Promise<any> => {
    const headers = { 'content-type': 'application/json' }
    return ask(`/api/v0/job${search}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
  const ids: number[] = []
  const run = async (input: string, change: object, search = ''): Promise<any> => {
    const created = await send(jobRequest(input, 'http', { webhook_url: webhookValue, ...change }), search)
    const id = created._auto_generated_id_ as number
    if (!id) throw new Error(`it was not created: ${JSON.stringify(created)}`)
    ids.push(id)
    return service.waitForEnd(id)
  }

  // Successful jobs, with every kind of credentials.
  const logo = { logo_url: `https://logo.test/logo.png?sig=${query.logo}` }
  const ready = { state: 'ready', error: null }
  expect(await run('s3://films/in.mp4', { ...toS3, ...logo })).toMatchObject(ready)
  expect(
    await run(`oci://${namespace}/Films/in.mp4`, {
      bucket_output_path: 'gs://films.example/out',
      ...both(ofOracle, ofGoogle),
    }),
  ).toMatchObject(ready)
  expect(
    await run(`gs://films.example/in.mp4`, {
      bucket_output_path: `oci://${namespace}/Films/out`,
      ...both(
        { cloud_provider: 'gcloud', ...pair(googleKey) },
        { cloud_provider: 'oracle', region, ...pair(oracleKey) },
      ),
    }),
  ).toMatchObject(ready)
  const fromSite = `http://${site.host}/in.mp4?sig=${query.input}`
  const toOwn = both(ofBasic, { cloud_provider: 'vendor-store' })
  const film = await run(fromSite, {
    ...toOwn,
    ...segmented,
    videoProfiles: [{ output: 'v', width: 160, height: 90, video_bitrate: 150 }],
  })
  expect(film).toMatchObject(ready)
  expect(await run(fromSite, toOwn, '?dry_run=true')).toMatchObject({ ...ready, dry_run: true })

  // Encrypted segments with separate tokens, PUT to a server that wants another name and password.
  const toTarget = { bucket_output_path: `http://${drop.host}/out`, ...both(ofBasic, ofTarget) }
  expect(await run(`http://${site.host}/hls/film.m3u8?sig=${query.input}`, toTarget)).toMatchObject(ready)
  expect([...drop.files.keys()]).toContain('/out/video.mp4')
  expect(site.requests.some(({ path }) => path === '/hls/secret.key')).toBe(true)

  // A newly issued key with a webhook, and its signing secret. The service returns each once, to the caller.
  const admin = Buffer.from(`${service.ready.admin_key}:`).toString('base64')
  const asAdmin = async (method: string, path: string, body: object = {}): Promise<any> => {
    const headers = { 'content-type': 'application/json', authorization: `Basic ${admin}` }
    const response = await fetch(service.base + path, { method, headers, body: JSON.stringify(body) })
    const { key, ...rest } = (await response.json()) as { key?: string; [name: string]: unknown }
    answers.push(`${path} ${JSON.stringify(rest)}`)
    if (key !== undefined) secrets.add('issued key', key.split('.')[1] ?? key)
    return { key, ...rest }
  }
  const keyHook = `https://hooks.test/key?token=${query.keyHook}`
  const first = await asAdmin('POST', '/api/v0/keys', { label: 'one', webhook_url: keyHook })
  const issued = await asAdmin('POST', `/api/v0/keys/${first.id}/rotate`)
  const secret = await service.call('/api/v0/webhooks/secret/rotate', { method: 'POST' })
  secrets.add('webhook secret', ((await secret.json()) as { secret: string }).secret.slice('whsec_'.length))
  const byKey = await fetch(`${service.base}/api/v0/job`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${issued.key}:`).toString('base64')}`,
    },
    body: JSON.stringify(jobRequest(fromSite, 'http', toOwn)),
  })
  const { _auto_generated_id_: ofKey } = (await byKey.json()) as { _auto_generated_id_: number }
  ids.push(ofKey)
  expect(await service.waitForEnd(ofKey)).toMatchObject(ready)
  await waitFor('the webhook of the key', () => hooks.some(({ target }) => target.includes('/key?token=')))
  await asAdmin('PATCH', `/api/v0/keys/${issued.id}`, { label: 'two' })
  await asAdmin('POST', '/api/v0/vault/rotate')
  const listed = await fetch(`${service.base}/api/v0/keys`, { headers: { authorization: `Basic ${admin}` } })
  answers.push(`keys ${await listed.text()}`)

  // Refused at creation, with secrets in fields where users put them by mistake.
  const misplaced = [
    jobRequest(`https://${basic.user}:${basic.password}@films.example/a.mp4`, 'http', toOwn),
    jobRequest(fromSite, 'http', {
      ...toOwn,
      output_container: 'avi',
      secret_key: aws.secretKey,
      gop_length: fromSite,
    }),
    jobRequest(fromSite, 'http', both({ ...ofAws, region: 7 })),
    jobRequest('s3://films/in.mp4', 'http', both({ ...ofOracle, private_key: pem.pem.slice(0, 400) })),
    jobRequest(`ftp://films.example/a?${query.input}`, 'http', toOwn),
  ]
  for (const body of misplaced) expect(await send(body)).toMatchObject({ status: 400 })
  const unknown = { ...toOwn, api_token: aws.token, extra: { password: basic.password, see: fromSite } }
  expect(await run(fromSite, unknown)).toMatchObject(ready)

  // Wrong credentials: stores echo what they received.
  const wrong = made('wrongSecret')
  const failed = { state: 'error' }
  expect(await run('s3://films/in.mp4', { ...toS3, ...both({ ...ofAws, secret_key: wrong }) })).toMatchObject(failed)
  expect(
    await run(fromSite, { ...both({ ...ofBasic, secret_key: wrong }, { cloud_provider: 'vendor-store' }) }),
  ).toMatchObject(failed)
  expect(
    await run('gs://films.example/in.mp4', {
      bucket_output_path: 'gs://films.example/out',
      ...both({ ...ofGoogle, private_key: pem.pem }),
    }),
  ).toMatchObject(failed)

  // A missing source, and a manual retry of it.
  const lost = await run(`http://${site.host}/none.mp4?sig=${query.lost}`, toOwn)
  expect(lost).toMatchObject({ error: { code: 'source_not_found' } })
  const again = await ask(`/api/v0/job/${ids.at(-1)}/retry`, { method: 'POST' })
  expect(again._auto_generated_id_).toBeGreaterThan(0)
  ids.push(again._auto_generated_id_)
  expect(await service.waitForEnd(ids.at(-1)!)).toMatchObject(failed)
  const renewed = await ask(`/api/v0/job/${ids.at(-1)}/retry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
    body: JSON.stringify(
      both(
        { cloud_provider: 'http', access_key: brought.user, secret_key: brought.password },
        { cloud_provider: 'vendor-store' },
      ),
    ),
  })
  ids.push(renewed._auto_generated_id_)
  expect(await service.waitForEnd(ids.at(-1)!)).toMatchObject(failed)
  expect((await ask(`/api/v0/job/${ids[1]}`, { method: 'DELETE' })).status).toBeLessThan(300)

  // Cancelled while its source does not answer.
  held = new Promise((resolve) => (release = resolve))
  const before = arrived
  const stuck = (await send(jobRequest('s3://films/in.mp4', 'http', toS3)))._auto_generated_id_ as number
  await waitFor('the store to be asked', () => arrived > before)
  await ask(`/api/v0/job/${stuck}/cancel`, { method: 'POST' })
  release()
  held = null
  expect(await service.waitForEnd(stuck)).toMatchObject({ state: 'cancelled' })
  await waitFor('the webhooks to arrive', () => hooks.length >= 5)

  for (const id of [...ids, stuck]) {
    for (const path of ['', '/events', '/webhooks', '/log']) await ask(`/api/v0/job/${id}${path}`)
    await ask(`/api/v0/job/${id}/events`, { headers: { accept: 'text/event-stream' } })
    await ask(`/api/v0/job/${id}/log`, { headers: { accept: 'text/plain' } })
  }
  for (const path of ['/api/v0/job', '/api/v0/limits', '/health', '/metrics']) await ask(path)

  const places = new Map<string, Uint8Array>([...(await readFilesBelow(service.stateDir)), ...watch.seen])
  // The file in which the service keeps its own secrets; only its owner can read it.
  expect(places.delete('secrets.json')).toBe(true)
  for (const [index, text] of answers.entries()) places.set(`answer ${index}: ${text.slice(0, 80)}`, Buffer.from(text))
  places.set('stderr', Buffer.from(service.stderr()))
  // The first line passes the keys to the user who started it.
  places.set('stdout', Buffer.from(service.stdout.slice(1).join('\n')))
  for (const [index, { headers, body }] of hooks.entries()) {
    places.set(`webhook ${index}`, Buffer.concat([Buffer.from(JSON.stringify([...headers])), body]))
  }
  for (const output of film.outputs as { path: string; url: string }[]) {
    places.set(`output ${output.path}`, Buffer.from(await (await fetch(output.url)).arrayBuffer()))
  }
  for (const [path, bytes] of drop.files) places.set(`put ${path}`, bytes)
  for (const store of [s3, oracle, compatible, google.store]) {
    for (const [key, { bytes }] of store.objects) places.set(`stored ${key}`, bytes)
  }
  // The Worker's log has a line for each request, with its account.
  expect(Buffer.from(places.get('logs/worker.log') ?? '').toString()).toMatch(
    /"msg":"request","request_id":"[^"]+","job":"[^"]+","account":"default","method":"POST","route":"\/api\/v0\/job"/,
  )
  // Proves that the search covers the expected places.
  const names = [...places.keys()].join('\n')
  for (const part of ['d1/', 'r2/', 'do/', 'logs/', 'output ', 'webhook 0', 'job.json']) expect(names).toContain(part)
  for (const program of ['ffmpeg', 'ffprobe', 'workerd']) expect([...watch.programs()].join(' ')).toContain(program)

  const found = [...places].flatMap(([place, bytes]) =>
    secrets.findIn(bytes).map(({ canary: name, form }) => `${name} (${form}) in ${place.slice(0, 200)}`),
  )
  expect(found).toEqual([])
})
