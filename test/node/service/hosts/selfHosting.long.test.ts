// In charge of: docs/self-hosting.md, executed: machines of a private network (network namespaces), set up by the commands
// of the page. Transcoders are added, killed, cut off and return; the service restarts; a backup is restored on an empty
// machine. No job is lost, and none is done twice.
// Not in charge of: what needs packages, users or systemd (listed below; ../../deploy/selfHosting.test.ts checks the files).
import { createHash } from 'node:crypto'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test, type TestContext } from 'vitest'
import { S3Server } from '../../../fakes/s3Server.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { HostNetwork, missingForHosts, type Host, type HostProcess } from '../../../support/hosts/hostNetwork.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { makeClip } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { jobRequest, ROOT, waitFor } from '../../../support/service.ts'
import { TestClient } from '../../../support/testClient.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { missingPrograms } from '../../validators/installedPrograms.ts'

const page = await readFile(join(ROOT, 'docs/self-hosting.md'), 'utf8')
const blocks = new Map([...page.matchAll(/^```sh (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, text]) => [name!, text!]))
/** These install packages, add users, start systemd's units or pull images. */
const NOT_RUN = ['compose', 'install', 'service-systemd', 'tls', 'transcoder-systemd', 'upgrade']
const run = new Set<string>()

const keys = { accessKey: 'AKIASELFHOSTING7EXAMPLE', secretKey: 'self+hosting/secret' }
const STORE = '10.0.0.4'
const temp = useTempDirectory()
const resources = fileResources()

let missing: string | null = null
let network: HostNetwork
let media: PausableFileServer
let s3: S3Server

interface Machine {
  name: string
  host: Host
}
interface Listed {
  id: string
  state: string
}

/** A block of the page as this test runs it: nothing but the directories and their owners are different. */
function script(name: string, machine: string): string {
  const text = blocks.get(name)
  if (text === undefined) throw new Error(`docs/self-hosting.md has no block "sh ${name}"`)
  run.add(name)
  return `sudo() { if [ "$1" = -u ]; then shift 2; fi; env "$@"; }\n${text
    .replaceAll(' -o splicepoint ', ' ')
    .replaceAll('/etc/splicepoint', temp.file(`${machine}/etc`))
    .replaceAll('/var/lib/splicepoint', temp.file(`${machine}/data`))
    .replaceAll('/var/backups/splicepoint', temp.file('backups'))}`
}

const at = { cwd: ROOT }
const perform = (name: string, { name: machine, host }: Machine, env: Record<string, string> = {}): Promise<string> =>
  host.run(script(name, machine), { ...at, env })
const begin = (name: string, { name: machine, host }: Machine): HostProcess =>
  host.start(script(name, machine), { ...at, env: { WORK_DIR: temp.file(`${machine}/work`) } })

/** What the page says to edit. The short lease only saves time. */
const edited = (
  machine: string,
): string => `sed -i 's|/var/lib/splicepoint|${temp.file(`${machine}/data`)}|' ${temp.file(`${machine}/etc/service.env`)}
cat >> ${temp.file(`${machine}/etc/service.env`)} <<'E'
ALLOW_PRIVATE_HOSTS=${STORE}:9000,${STORE}:8000
LEASE_SECONDS=6
E`

beforeAll(async () => {
  missing = (await missingForHosts()) ?? missingPrograms('caddy', 'curl', 'openssl', 'unshare')
  if (missing !== null) return
  const flags = ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart']
  media = resources.use(await PausableFileServer.start(await makeClip(temp.file('clip.mp4'), { seconds: 4, flags })))
  s3 = resources.use(await S3Server.start({ accounts: [keys], buckets: ['films'], region: 'us-east-1' }))
  network = resources.use(await HostNetwork.create())
  const store = await network.addHost('store', STORE)
  await shareWithHosts(store, `${STORE}:9000`, 's3', s3.host)
  await shareWithHosts(store, `${STORE}:8000`, 'media', media.host)
})
afterEach(() => media?.resume())

/** A server of this test, at an address of a host. */
async function shareWithHosts(host: Host, address: string, name: string, target: string): Promise<void> {
  const socket = temp.file(name)
  const at = new URL(`http://${target}`)
  const server = createServer((from) => {
    const to = connect(Number(at.port), at.hostname)
    from.on('error', () => to.destroy()).on('close', () => to.destroy())
    to.on('error', () => from.destroy()).on('close', () => from.destroy())
    from.pipe(to).pipe(from)
  })
  server.listen(socket)
  await once(server, 'listening')
  resources.defer(() => void server.close())
  await host.forward(address, socket)
}

/** An address of this test that leads to the service, as a client sees it. */
async function clientAddress(host: Host): Promise<string> {
  const socket = temp.file('client')
  await host.forward(socket, '10.0.0.1:8787')
  const server = createServer((from) => {
    const to = connect(socket)
    from.on('error', () => to.destroy()).on('close', () => to.destroy())
    to.on('error', () => from.destroy()).on('close', () => from.destroy())
    from.pipe(to).pipe(from)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  resources.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const request = (n: number): object =>
  jobRequest(`http://${STORE}:8000/clip.mp4`, 'http', {
    bucket_output_path: `s3://films/job-${n}`,
    cloud_credentials: {
      input: { cloud_provider: 'http' },
      output: {
        cloud_provider: 'aws',
        access_key: keys.accessKey,
        secret_key: keys.secretKey,
        region: 'us-east-1',
        endpoint: `http://${STORE}:9000`,
      },
    },
  })

test('one server and its transcoders lose nothing and do nothing twice', async (context: TestContext) => {
  if (missing !== null) skipTest(context, missing)
  const host = async (name: string, address: string): Promise<Machine> => ({
    name,
    host: await network.addHost(name, address),
  })
  const first = await host('service', '10.0.0.1')
  const a = await host('a', '10.0.0.2')
  const b = await host('b', '10.0.0.3')
  const client = await host('client', '10.0.0.9')

  // The service, without a transcoder.
  await perform('service-settings', first)
  await first.host.run(edited('service'))
  let service = begin('service-start', first)
  const base = await clientAddress(client.host)
  const healthy = (): Promise<void> =>
    waitFor('the service to answer', () => new TestClient(base, '').isServing()).then(
      () => undefined,
      (error: unknown) => {
        throw new Error(service.output(), { cause: error })
      },
    )
  await healthy()
  const { key } = JSON.parse(await perform('key', first)) as { key: string }
  const api = new TestClient(base, key)
  const { ADMIN_KEY } = JSON.parse(await readFile(temp.file('service/data/secrets.json'), 'utf8')) as {
    ADMIN_KEY: string
  }
  const transcoders = async (): Promise<Listed[]> => {
    const text = await perform('transcoders', client, { SPLICEPOINT_ADMIN_KEY: ADMIN_KEY })
    return (JSON.parse(text) as { transcoders: Listed[] }).transcoders
  }
  const ready = (...names: string[]): Promise<unknown> =>
    waitFor(`${names.join(' and ')} to be ready`, async () => {
      const found = (await transcoders().catch(() => [])).filter(({ state }) => state === 'ready')
      return names.every((name) => found.some(({ id }) => id.startsWith(name)))
    })
  const SECRET =
    /^TRANSCODER_SECRET=(\w{64})$/m.exec(await readFile(temp.file('service/etc/service.env'), 'utf8'))?.[1] ?? ''
  expect(await transcoders()).toEqual([])

  // A job waits until there is a transcoder. The second one is added while the first one works.
  const vendor = await api.create({
    ...request(0),
    bucket_output_path: undefined,
    cloud_credentials: { input: { cloud_provider: 'http' } },
  })
  await perform('transcoder-settings', a, { SECRET })
  const transcoder = begin('transcoder-start', a)
  await ready('a')
  expect(await api.waitForEnd(vendor)).toMatchObject({ state: 'ready', error: null })
  await perform('transcoder-settings', b, { SECRET })
  begin('transcoder-start', b)
  await ready('a', 'b')

  // One is killed in the middle of a job, and comes back.
  media.pauseAt(0.6)
  const killed = [await api.create(request(1)), await api.create(request(2))]
  for (const id of killed) await api.waitForEncoding(id)
  await b.host.losePower()
  await waitFor('an attempt to be lost', async () => (await lostAttempts(api, killed)) === 1)
  await b.host.reconnect()
  begin('transcoder-start', b)
  media.resume()
  for (const id of killed) expect(await api.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
  expect(await lostAttempts(api, killed)).toBe(1)
  await ready('a', 'b')

  // One is cut off in the middle of a job, and comes back while its job is done by the other.
  media.pauseAt(0.6)
  const cut = [await api.create(request(3)), await api.create(request(4))]
  for (const id of cut) await api.waitForEncoding(id)
  await a.host.cutOff()
  await waitFor('an attempt to be lost', async () => (await lostAttempts(api, cut)) === 1)
  media.resume()
  for (const id of cut) expect(await api.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
  await a.host.reconnect()
  await ready('a', 'b')

  // The service restarts in the middle of two jobs.
  media.pauseAt(0.6)
  const kept = [await api.create(request(5)), await api.create(request(6))]
  for (const id of kept) await api.waitForEncoding(id)
  expect(await service.stop()).toBe(0)
  service = begin('service-start', first)
  await healthy()
  media.resume()
  for (const id of kept) expect(await api.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })

  // A backup, while two jobs run and one waits. Then the machine is gone.
  media.pauseAt(0.6)
  const saved = [await api.create(request(7)), await api.create(request(8)), await api.create(request(9))]
  for (const id of saved.slice(0, 2)) await api.waitForEncoding(id)
  const everything = [vendor, ...killed, ...cut, ...kept]
  const before = await facts(api, everything)
  expect(await perform('backup', first)).toMatch(/the service paused for \d+ ms[\s\S]*complete and undamaged/)
  expect(await perform('backup-since', first)).toMatch(/the service paused for \d+ ms/)
  await cp(temp.file('service/etc'), temp.file('spare/etc'), { recursive: true })
  await first.host.run(`sed -i 's|/service/data|/spare/data|' ${temp.file('spare/etc/service.env')}`)
  await first.host.losePower()
  await first.host.remove()

  const spare = await host('spare', '10.0.0.1')
  expect(await perform('restore', spare)).toMatch(/is restored in/)
  service = begin('service-start', spare)
  await healthy()
  expect(await facts(api, everything)).toEqual(before)
  media.resume()
  for (const id of saved) expect(await api.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
  await ready('a', 'b')

  // Every output exists once and is whole; the service's own store came with the backup.
  const outputs = [...killed, ...cut, ...kept, ...saved].map((_, n) => `films/job-${n + 1}/video.mp4`)
  expect([...s3.objects.keys()].toSorted()).toEqual(outputs.toSorted())
  expect(s3.uploads.size).toBe(0)
  for (const key of outputs)
    expect(
      s3.log.filter((line) => line === `CompleteMultipartUpload ${key}` || line === `PutObject ${key}`),
    ).toHaveLength(1)
  const [stored] = (await api.status(vendor))?.outputs ?? []
  const bytes = Buffer.from(
    await (await api.call(new URL(stored?.url ?? '').pathname + new URL(stored?.url ?? '').search)).arrayBuffer(),
  )
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(stored?.sha256)

  // A transcoder that is stopped leaves the list.
  expect(await transcoder.stop()).toBe(0)
  await waitFor('a to leave the list', async () => (await transcoders()).every(({ id }) => id.startsWith('b')))

  // TLS, with a certificate of Caddy's own, as no authority can see this network. The task API is closed there.
  await beginCaddy(spare)
  const ask = (path: string): Promise<string> =>
    client.host.run(
      `curl -ks -o /dev/null -w '%{http_code}' --retry 20 --retry-connrefused --retry-delay 1 \
        --resolve transcode.example.com:443:10.0.0.1 https://transcode.example.com${path}`,
    )
  expect([await ask('/health'), await ask('/task/transcoders/x'), await ask('/api/v0/job/1')]).toEqual([
    '200',
    '404',
    '401',
  ])

  // The page has no block that was not run.
  expect([...blocks.keys()].filter((name) => !run.has(name)).toSorted()).toEqual(NOT_RUN)
})

/** The Caddyfile as it is, except for where the certificate comes from. */
async function beginCaddy({ host }: Machine): Promise<void> {
  const text = await readFile(join(ROOT, 'deploy/self-hosting/Caddyfile'), 'utf8')
  const own = text.replace(/^(\{\$DOMAIN.*\{)$/m, '{\n\tskip_install_trust\n\tadmin off\n}\n$1\n\ttls internal')
  await writeFile(temp.file('Caddyfile'), own)
  const home = { HOME: temp.path, XDG_DATA_HOME: temp.file('caddy'), XDG_CONFIG_HOME: temp.file('caddy') }
  host.start(`exec caddy run --adapter caddyfile --config ${temp.file('Caddyfile')}`, { env: home })
}

/** Status and events of jobs, without the times of signatures. Connections that lead to a machine that is gone break; then it asks again. */
async function facts(api: TestClient, ids: readonly number[]): Promise<unknown[]> {
  return Promise.all(
    ids.map((id) =>
      waitFor(`job ${id} to be read`, async () => {
        const [status, events] = await Promise.all([api.status(id), api.events(id).catch(() => null)])
        if (status === null || events === null) return null
        const outputs = status.outputs.map((output) => ({ ...output, url: output.url?.replace(/\?X-Amz-.*/, '') }))
        return { status: { ...status, outputs }, events }
      }),
    ),
  )
}

/** How many attempts of these jobs were lost. */
async function lostAttempts(api: TestClient, ids: readonly number[]): Promise<number> {
  const events = await Promise.all(ids.map((id) => api.events(id)))
  return events.flat().filter(({ type }) => type === 'attempt.lost').length
}
