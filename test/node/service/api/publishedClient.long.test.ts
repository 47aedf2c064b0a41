// In charge of: the published client against the real service: the program of its README in Node, and its browser build
// in a page of another origin, which uploads files with an API key and with an upload token.
// Not in charge of: the content of the package (test/node/client/npmPackage.test.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { beforeAll, expect, test, type TestContext } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { launchChromium, requireChromium, openDashboard } from '../../../support/browser/dashboardPage.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { findChromium } from '../../../support/browser/playerBrowser.ts'
import { ROOT, Service } from '../../../support/service.ts'

const run = promisify(execFile)
/** A page as a user of the package would write it; results are stored in `window`. */
const PAGE = `
import { Client, NetworkError, ServiceError } from '@splicepoint/client'
window.send = async (address, credentials, { stopAfter = Infinity, reuse = false } = {}) => {
  const [file] = document.querySelector('input').files
  const stop = new AbortController()
  const told = []
  try {
    const uploaded = await new Client(address, credentials).upload(file, undefined, {
      reuse,
      signal: stop.signal,
      progress: (stored, size) => {
        told.push(stored)
        document.querySelector('progress').value = stored / size
        if (stored >= stopAfter) stop.abort()
      },
    })
    return { uploaded, told }
  } catch (error) {
    const kind = error instanceof ServiceError ? error.code : error instanceof NetworkError ? 'network' : error.name
    return { error: kind, told }
  }
}
window.make = async (address, key, job) => {
  const client = new Client(address, key)
  const { _auto_generated_id_: id } = await client.create(job)
  return (await client.follow(id)).status
}
`

interface Sent {
  uploaded?: { uploaded_file_number: number; input: string; name: string; reused: boolean }
  error?: string
  told: number[]
}

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let site: LoopbackServer
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await mkdir(tempDir.file('app'))
  await makeClip(tempDir.file('app/film.mp4'), { width: 320, height: 180, seconds: 3 })
  // Several chunks.
  const noise = { width: 640, height: 360, seconds: 8, filters: 'noise=alls=100:allf=t', flags: ['-crf', '4'] }
  await makeClip(tempDir.file('app/large.mp4'), noise)
  service = resources.use(await Service.start())
  await writeFile(tempDir.file('app/package.json'), '{"private": true, "type": "module"}')
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/package.ts'), tempDir.path])
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...stdout.trim().split('\n')], {
    cwd: tempDir.file('app'),
  })
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: tempDir.file('app') },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
  })
  const script = outputFiles[0]!.text
  site = resources.use(
    await LoopbackServer.serve((request, response) => {
      const isScript = request.url === '/page.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
      const head = '<!doctype html><title>Send</title><link rel="icon" href="data:,">'
      const body = '<input type="file" aria-label="File"><progress></progress>'
      response.end(isScript ? script : `${head}<script type="module" src="/page.js"></script>${body}`)
    }),
  )
})

test('the program of the README uploads, waits and downloads HLS that plays', async () => {
  const readme = await readFile(tempDir.file('app/node_modules/@splicepoint/client/README.md'), 'utf8')
  const [, program] = /^```ts\n([\s\S]*?)^```$/m.exec(readme)!
  await writeFile(tempDir.file('app/program.ts'), program!)
  const env = { ...process.env, SPLICEPOINT_URL: service.base, SPLICEPOINT_KEY: service.ready.api_key }
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: tempDir.file('app'), env })
  expect(stdout).toMatch(/^done 100 %$/m)
  expect(stdout).toMatch(/^master\.m3u8 http/m)
  expect(await decodeFrames(tempDir.file('app/out/master.m3u8'))).toHaveLength(3 * 25)
})

async function onPage<T>(
  context: TestContext,
  work: (
    send: (credentials: object | string, options?: object) => Promise<Sent>,
    evaluate: (script: string) => Promise<unknown>,
  ) => Promise<T>,
): Promise<T> {
  const chromium = await findChromium()
  requireChromium(context, chromium)
  const browser = await launchChromium(chromium!)
  try {
    const { page, complaints } = await openDashboard(browser, site.url)
    await page.goto('/')
    await page.getByLabel('File').setInputFiles(tempDir.file('app/large.mp4'))
    const evaluate = (script: string): Promise<unknown> => page.evaluate(script)
    const send = (credentials: object | string, options: object = {}): Promise<Sent> =>
      evaluate(
        `send(${[service.base, credentials, options].map((each) => JSON.stringify(each)).join()})`,
      ) as Promise<Sent>
    const result = await work(send, evaluate)
    expect((await complaints()).filter((text) => !/status of (40[13]|429)/.test(text))).toEqual([])
    return result
  } finally {
    await browser.close()
  }
}

async function requireStored(number: number): Promise<void> {
  const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  const stored = await service.call(`/uploads/${number}`)
  expect(hash(Buffer.from(await stored.arrayBuffer()))).toBe(hash(await readFile(tempDir.file('app/large.mp4'))))
}

test('a page sends a file in chunks, goes on after a stop, is not sent it again, and makes a job of it', async (context) => {
  const { api_key: key } = service.ready
  const status = await onPage(context, async (send, evaluate) => {
    const stopped = await send(key, { stopAfter: 1, reuse: true })
    expect(stopped).toMatchObject({ error: 'AbortError', told: [0, expect.any(Number)] })
    const whole = await send(key, { reuse: true })
    expect(whole.told.length).toBeGreaterThan(1)
    expect(whole.told[0]).toBe(stopped.told.at(-1))
    expect(whole.uploaded).toMatchObject({ name: 'large.mp4', reused: false })
    await requireStored(whole.uploaded!.uploaded_file_number)
    const again = await send({ key }, { reuse: true })
    expect(again).toMatchObject({
      uploaded: { ...whole.uploaded, expires_at: expect.any(String), reused: true },
      told: [],
    })
    const job = {
      input: again.uploaded!.input,
      videoProfiles: [{ width: 0, height: 90, video_bitrate: 150 }],
      audioProfiles: [],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    }
    return evaluate(`make(${[service.base, key, job].map((each) => JSON.stringify(each)).join()})`)
  })
  expect(status).toMatchObject({ job_completed: true, error: null })
})

test('a page without a key sends one file by an upload token, and no second one', async (context) => {
  const issued = await service.call('/api/v0/uploads/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  const { token } = (await issued.json()) as { token: string }
  await onPage(context, async (send) => {
    const sent = await send({ token })
    expect(sent.uploaded, JSON.stringify(sent)).toMatchObject({ name: 'large.mp4' })
    await requireStored(sent.uploaded!.uploaded_file_number)
    const second = await send({ token })
    expect(second.error).toBe('quota_exceeded')
    expect((await send({ token: 'forged' })).error).toBe('unauthorized')
  })
})
