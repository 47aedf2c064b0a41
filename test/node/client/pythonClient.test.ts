// In charge of: the Python client against the real service: the program of its README, broken connections, errors,
// downloads, and its version.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobRead } from '#contract/api/answers.ts'
import { VERSION } from '#contract/version.ts'
import { Client } from '../../../client/nodeClient.ts'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../support/fileResources.ts'
import { FaultProxy } from '../../support/http/faultProxy.ts'
import { WebSite } from '../../support/http/webSite.ts'
import { makeClip } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { runProgram } from '../../support/runProgram.ts'
import { jobRequest, ROOT, Service } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const PACKAGE = join(ROOT, 'client/python')
const python = await findOnPath('python3')
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

test('the package has the version of the service', async () => {
  expect(await readFile(join(PACKAGE, 'pyproject.toml'), 'utf8')).toContain(`\nversion = "${VERSION}"\n`)
})

describe.skipIf(skipSuite(python === null ? 'python3 is not installed' : null))(
  `in Python${python === null ? ': python3 is not installed' : ''}`,
  () => {
    const resources = fileResources()
    const tempDir = useTempDirectory()
    let service: Service
    let proxy: FaultProxy
    let client: Client

    beforeAll(async () => {
      await makeClip(tempDir.file('film.mp4'), { width: 640, height: 360, seconds: 3, audio: [2] })
      await writeFile(tempDir.file('request.json'), JSON.stringify(jobRequest('https://none.test/a.mp4', 'http')))
      service = resources.use(await Service.start())
      proxy = resources.use(await FaultProxy.start(service.base))
      client = new Client(service.base, service.ready.api_key)
    })

    /** Runs a program in the temporary directory; its output, whatever its exit code. */
    const run = (program: string, args: string[] = []) =>
      runProgram(python!, ['-W', 'error', '-c', program, ...args], {
        cwd: tempDir.path,
        env: {
          PYTHONPATH: PACKAGE,
          PYTHONDONTWRITEBYTECODE: '1',
          NO_PROXY: '127.0.0.1',
          SPLICEPOINT_URL: proxy.url,
          SPLICEPOINT_KEY: service.ready.api_key,
        },
      })
    const START = `import json, os, sys
from splicepoint import Client, NetworkError, ServiceError
client = Client(os.environ["SPLICEPOINT_URL"] + "/", os.environ["SPLICEPOINT_KEY"], timeout=300)
`
    /** The first program of a page. */
    const shown = async (page: string): Promise<string> =>
      /^```python\n([\s\S]*?)^```$/m.exec(await readFile(join(ROOT, page), 'utf8'))![1]!
    const evaluate = async <T>(program: string, args?: string[]): Promise<T> => {
      const { code, stdout, stderr } = await run(START + program, args)
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout) as T
    }

    test('every file compiles', async () => {
      const { code, stdout } = await runProgram(python!, ['-m', 'compileall', '-q', join(PACKAGE, 'splicepoint')], {
        env: { PYTHONPYCACHEPREFIX: tempDir.file('cache') },
      })
      expect(stdout).toBe('')
      expect(code).toBe(0)
    })

    test('the program of the README ends in a page that plays without a key, and a directory that plays', async () => {
      const { code, stdout, stderr } = await run(await shown('client/python/README.md'))
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expect(stdout).toMatch(/^sent 0 %\nsent 100 %\n(\w+ [\d.]+ %\n)+http\S+\n$/)
      const page = /^http\S+$/m.exec(stdout)![0]
      const media = (await (await fetch(`${page}/data`)).json()) as { title: string; sources: { kind: string }[] }
      expect(media).toMatchObject({ title: 'Our film', sources: [{ kind: 'hls' }] })
      const { jobs } = await client.list({ limit: 1 })
      const { status } = await client.read(jobs[0]!._auto_generated_id_)
      const report = status.outputs.find(({ role }) => role === 'report')!
      const { objects } = JSON.parse(await readFile(tempDir.file(`out/${report.path}`), 'utf8')) as {
        objects: { path: string; sha256: string | null }[]
      }
      expect(objects.some(({ path }) => !status.outputs.some((output) => output.path === path))).toBe(true)
      expect(objects.filter(({ sha256 }) => sha256 === null).length).toBeLessThan(2)
      for (const { path, sha256 } of objects) {
        const bytes = await readFile(tempDir.file(`out/${path}`))
        if (sha256 !== null) expect(sha256Of(bytes), path).toBe(sha256)
      }
    })

    test('with a wrong key it ends with the error, what to do, and where to read', async () => {
      const program = (await shown('client/python/README.md')).replace(
        '["SPLICEPOINT_KEY"]',
        '["SPLICEPOINT_KEY"] + "."',
      )
      const { code, stderr } = await run(program)
      expect(stderr).toMatch(
        /^This API key is unknown.* \(unauthorized, HTTP 401\)\n {2}.+\n {2}https:\S+#unauthorized\n$/,
      )
      expect(code).toBe(1)
    })

    test('the program of docs/client.md downloads what it made', async () => {
      const program = (await shown('docs/client.md'))
        .replace('https://transcode.example.com', service.base)
        .replace('sp_…', service.ready.api_key)
        .replace('"out"', '"second"')
      expect(await run(program)).toEqual({ code: 0, stdout: '', stderr: '' })
      expect((await readdir(tempDir.file('second'))).some((name) => name.endsWith('.m3u8'))).toBe(true)
    })

    test('an upload that is cut midway resumes from what is stored', async () => {
      const bytes = Buffer.from(Array.from({ length: 12_000_000 }, (_, index) => (index * 7919) % 251))
      await writeFile(tempDir.file('large.bin'), bytes)
      proxy.calls.length = 0
      let cuts = 0
      proxy.chooseFault = ({ method, headers }) =>
        method === 'PATCH' && headers['upload-offset'] !== '0' && cuts++ === 0
          ? { kind: 'reset', afterBytes: 2_000_000, way: 'up' }
          : null
      const { number, reported, peak } = await evaluate<{ number: number; reported: number[]; peak: number }>(`
import tracemalloc
tracemalloc.start()
reported = []
upload = client.upload("large.bin", "a näme.bin", lambda stored, size: reported.append(stored))
peak = tracemalloc.get_traced_memory()[1]
print(json.dumps({"number": upload["uploaded_file_number"], "reported": reported, "peak": peak}))`)
      expect([reported[0], reported.at(-1)]).toEqual([0, bytes.length])
      const methods = proxy.calls.map(({ method }) => method)
      expect(methods.slice(0, 4)).toEqual(['POST', 'PATCH', 'PATCH', 'HEAD'])
      expect(methods.lastIndexOf('POST')).toBe(0)
      expect(Number(proxy.calls.at(-1)!.headers['upload-offset'])).toBeGreaterThan(0)
      // Less than one chunk.
      expect(peak).toBeLessThan(3_000_000)
      const { uploads } = await client.uploads({ limit: 1 })
      expect(uploads[0]).toMatchObject({ uploaded_file_number: number, name: 'a näme.bin', state: 'ready' })
      const stored = await service.call(`/uploads/${number}`)
      expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
    })

    test('an upload whose last answer is lost is ready for a job', async () => {
      proxy.calls.length = 0
      proxy.chooseFault = ({ method }) =>
        method === 'PATCH' && proxy.calls.length === 2 ? { kind: 'lost answer' } : null
      const number = await evaluate<number>(`print(client.upload("film.mp4")["uploaded_file_number"])`)
      expect(proxy.calls.map(({ method, headers }) => [method, headers['content-length']])).toEqual([
        ['POST', '0'],
        ['PATCH', String((await stat(tempDir.file('film.mp4'))).size)],
        ['HEAD', undefined],
        ['PATCH', '0'],
      ])
      const { uploads } = await client.uploads({ limit: 1 })
      expect(uploads[0]).toMatchObject({ uploaded_file_number: number, state: 'ready' })
    })

    test('an error of the API says the field, what is allowed, what to do, and where to read', async () => {
      const told = await evaluate<Record<string, string | number>>(`
try:
    client.create({"input": "1", "output_container": "webm", "audioProfiles": [], "videoProfiles": [{"width": 1}],
                   "cloud_credentials": {"input": {"cloud_provider": "file-upload"}}})
except ServiceError as error:
    print(json.dumps({**vars(error), "text": str(error)}))`)
      expect(told).toMatchObject({ status: 400, code: 'invalid_request', field: expect.any(String) })
      const { text, advice, docs, details } = told as unknown as {
        text: string
        advice: string
        docs: string
        details: { field: string; message: string }[]
      }
      expect(details.length).toBeGreaterThan(1)
      expect(text).toContain('(invalid_request, HTTP 400)')
      for (const part of [advice, docs, ...details.flatMap(({ field, message }) => [field, message])])
        expect(text).toContain(part)
    })

    test('no answer, and an answer of something else, are errors of their own', async () => {
      proxy.chooseFault = ({ url }) =>
        url.includes('/limits') ? { kind: 'status', status: 302, headers: { location: '/health' } } : null
      const told = await evaluate<string[]>(`
told = []
for call in (client.limits, Client("http://127.0.0.1:1", "key").limits):
    try:
        call()
    except (ServiceError, NetworkError) as error:
        told.append(f"{type(error).__name__}: {error}")
print(json.dumps(told))`)
      expect(told[0]).toMatch(/^ServiceError: The address answered HTTP 302 without an error message/)
      expect(told[1]).toMatch(/^NetworkError: No complete answer from 127\.0\.0\.1:1: .*refused/)
    })

    test('a lost answer creates no second job, and a short outage does not end follow', async () => {
      const before = (await client.list({ limit: 1 })).jobs[0]!._auto_generated_id_
      proxy.calls.length = 0
      proxy.chooseFault = ({ method, n }) =>
        method === 'POST' && proxy.calls.filter((call) => call.method === 'POST').length === 1
          ? { kind: 'lost answer' }
          : method === 'GET' && n % 2 === 0
            ? { kind: 'status', status: 503 }
            : null
      const { id, states } = await evaluate<{ id: number; states: string[] }>(`
id = client.create(json.load(open("request.json", "rb")))["_auto_generated_id_"]
states = []
def stop(job):
    states.append(job["status"]["state"])
    if len(states) == 1:
        client.cancel(id)
client.follow(id, poll_seconds=0, show=stop)
print(json.dumps({"id": id, "states": states}))`)
      expect(id).toBe(before + 1)
      expect(proxy.calls.slice(0, 2).map(({ method }) => method)).toEqual(['POST', 'POST'])
      expect(states.at(-1)).toBe('cancelled')
      expect(proxy.calls.filter(({ method }) => method === 'GET').length).toBeGreaterThan(states.length)
    })

    test('the other functions do what their names say', async () => {
      proxy.chooseFault = () => null
      const got = await evaluate<Record<string, unknown>>(`
job = {**json.load(open("request.json", "rb")), "metadata": {"customer": "a: b"}}
first = client.create(job, dry_run=True, idempotency_key="same")["_auto_generated_id_"]
again = client.create(job, dry_run=True, idempotency_key="same")["_auto_generated_id_"]
try:
    client.cancel(first)
except ServiceError as error:
    assert error.code == "job_finished", error
client.follow(first, poll_seconds=0.1)
second = client.retry(first)
listed = client.list(limit=5, search="a.mp4", metadata={"customer": "a: b"})
client.delete(first)
try:
    client.read(first)
except ServiceError as error:
    gone = error.status
print(json.dumps({"same": first == again, "retry_of": second["retry_of"] == first, "gone": gone,
                  "listed": [each["_auto_generated_id_"] for each in listed["jobs"]] == [second["_auto_generated_id_"], first],
                  "event": client.events(second["_auto_generated_id_"])["events"][0]["type"],
                  "limits": "resumable_upload" in client.limits()}))`)
      expect(got).toEqual({ same: true, retry_of: true, gone: 404, listed: true, event: 'job.created', limits: true })
    })

    describe('download_all', () => {
      const content = Buffer.from('the bytes of a film')
      let site: WebSite
      beforeAll(async () => {
        site = resources.use(await WebSite.start())
        site.files.set('/film', content)
      })

      /** Downloads the job into `name`; the files, or the error. */
      async function download(name: string, outputs: object[]): Promise<unknown> {
        await writeFile(tempDir.file('job.json'), JSON.stringify({ status: { outputs } }))
        return evaluate(
          `
try:
    print(json.dumps(client.download_all(json.load(open("job.json", "rb")), sys.argv[1])))
except (NetworkError, ValueError) as error:
    print(json.dumps(f"{type(error).__name__}: {error}"))`,
          [name],
        )
      }
      const output = (path: string, change: Partial<JobRead['status']['outputs'][number]> = {}) => ({
        path,
        url: `${site.url}/film`,
        size: content.length,
        sha256: sha256Of(content),
        role: 'media',
        ...change,
      })

      test('writes the bytes, and keeps a file that is there already', async () => {
        const expected = (already: boolean) => [{ path: 'a/b.mp4', file: tempDir.file('got/a/b.mp4'), already }]
        expect(await download('got', [output('a/b.mp4')])).toEqual(expected(false))
        expect(await readFile(tempDir.file('got/a/b.mp4'))).toEqual(content)
        expect(await download('got', [output('a/b.mp4')])).toEqual(expected(true))
        expect(site.requests.filter(({ headers }) => headers['authorization'] !== undefined)).toEqual([])
      })

      test.each([
        ['size', { size: 18 }, /has 19 bytes instead of 18/],
        ['SHA-256', { sha256: '0'.repeat(64) }, /SHA-256 differs/],
      ])('leaves nothing of a file with another %s', async (_what, change, message) => {
        expect(await download('wrong', [output('b.mp4', change)])).toMatch(message)
        expect(await readdir(tempDir.file('wrong'))).toEqual([])
      })

      test.each([
        ['of the parent', '../out.mp4'],
        ['of the parent, from below', 'a/../../out.mp4'],
        ['that is absolute', tempDir.file('out.mp4')],
        ['through a link', 'link/out.mp4'],
        ['of the directory itself', '.'],
        ['that is empty', ''],
      ])('refuses a path %s before it writes anything', async (_what, path) => {
        await mkdir(tempDir.file('safe'), { recursive: true })
        await symlink(tempDir.path, tempDir.file('safe/link')).catch(() => undefined)
        site.requests.length = 0
        expect(await download('safe', [output('b.mp4'), output(path)])).toMatch(/^ValueError: .* outside of /)
        expect(site.requests).toEqual([])
        await expect(stat(tempDir.file('out.mp4'))).rejects.toThrow('ENOENT')
      })
    })
  },
)
