// In charge of: what can be reached in a local development server without a key: every known entry point of miniflare
// and wrangler is requested on every port of a process and its descendants.
// Not in charge of: which process is scanned (ports.test.ts).
import { listeningPorts, rawRequest, sendRaw, type ListeningPort, type RawResponse } from './listeningSockets.ts'

export interface OpenPort {
  where: string
  asked: string
  status: number
  body: string
}

const explorer = [
  '',
  '/',
  '/api/d1/database',
  '/api/d1/database/00000000-0000-0000-0000-000000000000/raw',
  '/api/r2/buckets/splicepoint/objects',
  '/api/workers/durable_objects/namespaces',
]
/** Paths of miniflare's own worker, its loopback server and wrangler's proxy, in old and new versions. */
const entryPoints = [
  ['/cdn-cgi/explorer', '/cdn-cgi/local/explorer', '/cdn-cgi/mf/explorer'].flatMap((at) =>
    explorer.map((path) => at + path),
  ),
  ['handler', 'local', 'mf'].flatMap((at) => [`/cdn-cgi/${at}/scheduled`, `/cdn-cgi/${at}/email?from=a@b&to=c@d`]),
  ['/cdn-cgi/local/platform-proxy', '/cdn-cgi/mf/reload', '/cdn-cgi/mf/stream', '/cdn-cgi/mf/imagedelivery'],
  ['/cdn-cgi/live-reload', '/cdn-cgi/trace', '/cdn-cgi/', '/cdn-cgi', '/cdn-cgi/local/r2/s3/splicepoint'],
  ['/__cf_local/stream', '/__cf_local/imagedelivery', '/__cf_local/imagedelivery/upload'],
  ['/core/dev-registry', '/core/public-url', '/core/store-temp-file', '/core/do-storage/splicepoint-JobMonitor'],
  ['/json', '/json/version', '/browser/sessionIds'],
].flat()

/** Invalid addresses: a server may crash on them. */
const odd = ['//', '///', '*', 'http://[', 'http://', '/%', '/%00', '/\\', '//localhost:1/health', '?', 'localhost:1']

/** Other spellings of the same path. */
const disguises: ((path: string) => string)[] = [
  (path) => path,
  (path) => `/health/..${path}`,
  (path) => `/%2e${path}`,
  (path) => `/x/..\\${path.slice(1)}`,
  (path) => `http://localhost${path}`,
]

/** Headers that redirect a request, or claim an identity. */
const disguisedHeaders: Record<string, string>[] = [
  {},
  { Origin: 'http://localhost:8080' },
  { Host: '127.0.0.1', 'X-Forwarded-Host': 'localhost' },
  { 'X-Forwarded-Proto': 'https' },
  { 'MF-Op': 'GET', 'MF-Op-Target': '0', 'MF-Op-Key': 'BUCKET' },
]

/** Every answer that is more than a refusal. `objects`: keys in the bucket. */
export async function findOpenPorts(pid: number, objects: readonly string[]): Promise<OpenPort[]> {
  const stored = objects.map((key) => `/cdn-cgi/local/r2/public/splicepoint/${encodeURI(key)}`)
  const openings: OpenPort[] = []
  for (const port of listeningPorts(pid)) {
    const where = `${port.host}:${port.port} (${port.program})`
    const judge = (asked: string, answer: RawResponse): void => {
      const { status, body } = answer
      if (status < 400 || status >= 500) {
        // Closing without an answer is as good as a refusal.
        if (status !== 0) openings.push({ where, asked, status, body: body.slice(0, 200) })
      } else if (/\n\s+at |file:\/\/|node_modules/.test(body)) openings.push({ where, asked, status, body })
    }
    for (const [asked, bytes] of attacks([...entryPoints, ...stored])) judge(asked, await sendRaw(port, bytes))
    await moved(port, judge)
  }
  // Last, because a server may crash on it.
  for (const port of listeningPorts(pid))
    for (const target of odd) await sendRaw(port, rawRequest(target), { end: true })
  return openings
}

function attacks(paths: readonly string[]): [asked: string, bytes: string][] {
  return [
    ...paths.flatMap((path) =>
      disguises.map((disguise): [string, string] => [disguise(path), rawRequest(disguise(path))]),
    ),
    ...paths.flatMap((path) =>
      disguisedHeaders.map((headers): [string, string] => [
        `${path} ${JSON.stringify(headers)}`,
        rawRequest(path, headers),
      ]),
    ),
    ...paths.map((path): [string, string] => [
      `POST ${path}`,
      rawRequest(path, { 'Content-Type': 'application/json' }, 'POST', '{"sql":"select 1"}'),
    ]),
  ]
}

/** A health check that is rewritten to another path. The real answer is recognized by its first words. */
async function moved(port: ListeningPort, judge: (asked: string, answer: RawResponse) => void): Promise<void> {
  const headers: Record<string, string>[] = [
    { 'MF-Original-URL': 'http://localhost/cdn-cgi/local/scheduled' },
    { 'MF-Original-URL': 'http://evil.invalid/docs' },
    { 'MF-Original-URL': '/relative' },
    { 'MF-CF-Blob': 'x' },
    { 'MF-Proxy-Shared-Secret': 'x' },
    { 'MF-Route-Override': 'x' },
    { 'MF-Custom-Fetch-Service': 'x' },
    { 'MF-Custom-Node-Service': 'x' },
    { 'MF-Access-Blob': '{}' },
  ]
  const plain = await sendRaw(port, rawRequest('/health'))
  for (const one of headers) {
    const answer = await sendRaw(port, rawRequest('/health', one))
    const same = answer.status === plain.status && answer.body.slice(0, 40) === plain.body.slice(0, 40)
    if (!same) judge(`/health ${JSON.stringify(one)}`, { ...answer, status: answer.status || 599 })
  }
}
