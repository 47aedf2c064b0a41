// In charge of: whole jobs that read from Oracle and Google and write to them: bytes, kills, and wrong keys.
// Not in charge of: what the stores do (test/worker/storage), whether our servers are strict enough
// (test/node/harness/fakeStores.test.ts).
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { FakeGoogle } from '../../../fakes/googleStorage.ts'
import { generateRsaKey } from '../../../fakes/rsaKeys.ts'
import { FakeOracle } from '../../../fakes/oracleStorage.ts'
import { FakeServer } from '../../../fakes/httpServer.ts'
import type { FakeRequest } from '../../../fakes/objectServer.ts'
import { FakeS3 } from '../../../fakes/s3.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

const KEY = 'in (1)/a b+c%20ü.mp4'
const OUT = 'out +%/ü'
const region = 'eu-frankfurt-1'
const namespace = 'axaxnpcrorw5'
const tenancy = 'ocid1.tenancy.oc1..canary'
const user = 'ocid1.user.oc1..canary'
const email = 'canary@project.iam.gserviceaccount.com'
const pair = { accessKey: 'CANARYACCESSKEY', secretKey: 'canary+secret/key' }
const mine = await generateRsaKey()
const anothers = await generateRsaKey()

function fingerprintOf(pem: string): string {
  const read = readPem(pem)
  if (!read.ok) throw new Error(read.reason)
  return read.key.fingerprint
}

const oracle = new FakeOracle({
  namespace,
  bucket: 'Films',
  host: `objectstorage.${region}.oraclecloud.com`,
  keys: new Map([[`${tenancy}/${user}/${fingerprintOf(mine.pem)}`, mine.publicKey]]),
})
const compatible = new FakeS3({ accounts: [pair], buckets: ['Films'], region })
const google = new FakeGoogle({
  bucket: 'films.example',
  accounts: [{ email, keyId: 'kid1', publicKey: mine.publicKey }],
  pairs: [pair],
})

const hosts: Record<string, (request: FakeRequest) => ReturnType<FakeOracle['handle']>> = {
  [`objectstorage.${region}.oraclecloud.com`]: oracle.handle,
  [`${namespace}.compat.objectstorage.${region}.oraclecloud.com`]: async (request) => compatible.handle(request),
  'storage.googleapis.com': google.handle,
  'oauth2.googleapis.com': google.handle,
}

/** Delays the answer to a matching request until the promise resolves. */
let gate: (request: FakeRequest) => Promise<void> | null = () => null
let waiting = 0

let service: Service
let server: FakeServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 3, flags: ['-movflags', '+faststart'] })
  const bytes = await readFile(clip)
  oracle.put(KEY, bytes, 'video/mp4')
  compatible.put(`Films/${KEY}`, bytes, 'video/mp4')
  google.store.put(`films.example/${KEY}`, bytes, 'video/mp4')
  server = resources.use(
    await FakeServer.start(async (request) => {
      const answer = await hosts[request.headers.get('host') ?? '']?.(request)
      const held = gate(request)
      if (held) {
        waiting++
        await held
      }
      return answer ?? { status: 421, headers: {}, body: '' }
    }),
  )
  const names = Object.keys(hosts).map((host) => `${host}:443=${server.host}`)
  service = resources.use(await Service.start({ CONNECT_TO: names.join(',') }))
})
afterEach(async () => {
  gate = () => null
  // However a job ends, no incomplete upload remains, and no message contains a secret.
  for (const { uploads } of [oracle, compatible, google.store]) {
    await waitFor('every upload to be gone', () => uploads.size === 0)
  }
  const logs = join(service.stateDir, 'logs')
  const written = await readdir(logs, { withFileTypes: true, recursive: true })
  const files = written.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)))
  const text = [service.stderr(), ...service.stdout, ...(await Promise.all(files)).map(String)].join('\n')
  if (/canary|PRIVATE KEY|ya29/i.test(text)) throw new Error('a log holds a secret')
})

const access = { access_key: pair.accessKey, secret_key: pair.secretKey }
const withApiKey = {
  cloud_provider: 'oracle',
  region,
  tenancy_ocid: tenancy,
  user_ocid: user,
  oci_fingerprint: fingerprintOf(mine.pem),
  private_key: mine.pem,
}
const withCustomerKey = { cloud_provider: 'oracle', region, ...access }
const withAccount = {
  cloud_provider: 'gcloud',
  client_email: email,
  private_key_id: 'kid1',
  private_key: JSON.stringify(mine.pem).slice(1, -1),
}
const withHmac = { cloud_provider: 'gcloud', ...access }

const ORACLE = `oci://${namespace}/Films`
const GOOGLE = 'gs://films.example'

interface Side {
  credentials: object
  root: string
  stored: (key: string) => Uint8Array | undefined
}
const sides: Record<string, Side> = {
  'Oracle with an API key': {
    credentials: withApiKey,
    root: ORACLE,
    stored: (key) => oracle.objects.get(key)?.bytes,
  },
  'Oracle with a customer key': {
    credentials: withCustomerKey,
    root: ORACLE,
    stored: (key) => compatible.objects.get(`Films/${key}`)?.bytes,
  },
  'Google with a service account': {
    credentials: withAccount,
    root: GOOGLE,
    stored: (key) => google.store.objects.get(`films.example/${key}`)?.bytes,
  },
  'Google with an HMAC key': {
    credentials: withHmac,
    root: GOOGLE,
    stored: (key) => google.store.objects.get(`films.example/${key}`)?.bytes,
  },
}

const job = (from: Side, to: Side, change: object = {}): object => ({
  ...jobRequest(`${from.root}/${KEY}`, 'http'),
  bucket_output_path: `${to.root}/${OUT}`,
  cloud_credentials: { input: from.credentials, output: to.credentials },
  ...change,
})

test.each([
  ['Oracle with an API key', 'Google with a service account'],
  ['Google with a service account', 'Oracle with an API key'],
  ['Oracle with a customer key', 'Google with an HMAC key'],
  ['Google with an HMAC key', 'Oracle with a customer key'],
])('a job reads from %s and writes to %s', async (from, to) => {
  const target = sides[to]!
  const status = await service.run(job(sides[from]!, target))
  expect(status).toMatchObject({ state: 'ready', error: null, tcode_progress: '100', xfer_progress: '100' })
  expect(status.outputs).toMatchObject([{ location: `${target.root}/${OUT}/video.mp4`, content_type: 'video/mp4' }])
  const stored = target.stored(`${OUT}/video.mp4`) ?? new Uint8Array()
  expect(createHash('sha256').update(stored).digest('hex')).toBe(status.outputs[0]?.sha256)
  await writeFile(tempDir.file('out.mp4'), stored)
  expect(await decodeFrames(tempDir.file('out.mp4'))).toHaveLength(75)
})

test.each(['Oracle with an API key', 'Google with a service account'])(
  'a transcoder that is killed in the middle of an upload to %s leaves none, and the job is done all the same',
  async (name) => {
    const side = sides[name]!
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    waiting = 0
    gate = ({ method, target }) => (method === 'PUT' && /[?&](partNumber|uploadPartNum)=/.test(target) ? opened : null)
    const id = await service.create(job(side, side, { bucket_output_path: `${side.root}/killed` }))
    await waitFor('a part to be under way', () => waiting > 0)
    process.kill(service.transcoder()!.pid, 'SIGKILL')
    open()
    expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
    expect(side.stored('killed/video.mp4')?.length).toBeGreaterThan(10_000)
  },
)

test.each<[string, string, object, object]>([
  [
    'another user of Oracle’s',
    'Oracle with an API key',
    { user_ocid: 'ocid1.user.oc1..canaryother' },
    { code: 'credentials_invalid', field: 'cloud_credentials.output', details: { provider_code: 'NotAuthenticated' } },
  ],
  [
    'another secret of Oracle’s',
    'Oracle with a customer key',
    { secret_key: 'canary-wrong' },
    { code: 'credentials_invalid', field: 'cloud_credentials.output' },
  ],
  [
    'another private key of Google’s',
    'Google with a service account',
    { private_key: anothers.pem },
    { code: 'credentials_invalid', field: 'cloud_credentials.output', details: { provider_code: 'invalid_grant' } },
  ],
  [
    'another secret of Google’s',
    'Google with an HMAC key',
    { secret_key: 'canary-wrong' },
    { code: 'credentials_invalid', field: 'cloud_credentials.output' },
  ],
])('%s ends the job before the encode', async (_, name, change, error) => {
  const side = sides[name]!
  const credentials = { input: side.credentials, output: { ...side.credentials, ...change } }
  const status = await service.run(job(side, side, { cloud_credentials: credentials }))
  expect(status).toMatchObject({ state: 'error', outputs: [], tcode_progress: '0', error })
  const text = JSON.stringify(status).replaceAll(`${side.root}/`, '')
  for (const secret of ['canary', 'CANARY', 'PRIVATE KEY', 'ya29', mine.pem.slice(40, 80)]) {
    expect(text).not.toContain(secret)
  }
})
