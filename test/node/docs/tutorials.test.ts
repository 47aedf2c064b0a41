// In charge of: the tutorials as they stand: their files and commands against the real service, from a visitor's upload
// to a segment that decodes, from a bucket to HLS, from a feed to its cues. Only addresses, ports and keys are others than
// on the pages.
// Not in charge of: attacks on the check of signatures, which is that of docs/webhooks.md (webhookReceivers.test.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import type { SharedMedia } from '#contract/api/answers.ts'
import { S3Server } from '../../fakes/s3Server.ts'
import { pidOf } from '../../../transcoder/formats/mpegts/packet.ts'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { launchChromium, requireChromium } from '../../support/browser/dashboardPage.ts'
import { findChromium } from '../../support/browser/playerBrowser.ts'
import { fileResources } from '../../support/fileResources.ts'
import { Gate } from '../../support/http/gate.ts'
import { decodeFrames, makeClip, readPackets, tempDirectory, type ClipOptions } from '../../support/media/media.ts'
import { skipTest } from '../../support/requirement.ts'
import { runBash, SPLICEPOINT } from '../../support/runProgram.ts'
import { ROOT, Service, waitFor } from '../../support/service.ts'
import { cueAtSeconds, makeCueClip, readCues, splitPackets } from '../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../support/mpegts/spliceSections.ts'
import { JOB_TIMEOUT_MS, STEP_TIMEOUT_MS } from '../../support/timeouts.ts'

/** The blocks of a tutorial by the second word of their first line: a command's name, or a file's. */
async function blocks(name: string): Promise<Map<string, string>> {
  const page = await readFile(join(ROOT, `docs/tutorials/${name}.md`), 'utf8')
  return new Map([...page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, info, text]) => [info!, text!]))
}

const tutorials = { node: await blocks('node'), python: await blocks('python') }
const bucket = await blocks('bucket')
const cues = await blocks('cues')
const indexHtml = tutorials.node.get('index.html')!
const missing: string[] = []
for (const name of ['curl', 'python3']) if ((await findOnPath(name)) === null) missing.push(name)
const chromium = await findChromium()

const S3_KEYS = { accessKey: 'AKIATUTORIAL', secretKey: 'secret/of+the+tutorial' }

type Tutorial = keyof typeof tutorials
/** The program of a tutorial's commands that this machine does not have. */
const lacks = (name: Tutorial) => missing.find((program) => program === 'curl' || name === 'python')
function requirePrograms(context: TestContext, name: Tutorial): void {
  const program = lacks(name)
  if (program !== undefined) skipTest(context, `${program} is not installed`)
}

const resources = fileResources()
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let gate: Gate
let s3: S3Server
let service: Service
let server: ChildProcess | undefined
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 320, height: 180, seconds: 2 })
  await writeFile(tempDir.file('notes.mp4'), 'These are notes, and no film.')
  gate = resources.use(await Gate.open())
  s3 = resources.use(
    await S3Server.start({ accounts: [S3_KEYS], buckets: ['films'], region: 'auto', equalParts: true }),
  )
  // Both pages start the service by the same command.
  const [command] = new Set(Object.values(tutorials).map((tutorial) => tutorial.get('service')))
  const [, setting, host] = /^(\w+)=(127\.0\.0\.1:3000) npm start\n$/.exec(command!)!
  service = resources.use(
    await Service.start({ [setting!]: `${host!.replace('127.0.0.1:3000', gate.host)},${s3.host}` }),
  )
})
afterAll(stop)

async function stop(): Promise<void> {
  if (server === undefined || server.exitCode !== null) return
  const ended = once(server, 'exit')
  server.kill()
  await ended
  gate.hangUp()
}

/** Follows a tutorial up to the line that its server prints. */
async function follow(name: Tutorial): Promise<void> {
  await stop()
  const tutorial = tutorials[name]
  await mkdir(tempDir.file(name), { recursive: true })
  const made = await runBash(`rm -rf films\n${tutorial.get('directory')}pwd`, { cwd: tempDir.file(name) })
  const directory = made.stdout.trim()
  await writeFile(join(directory, 'index.html'), indexHtml)
  for (const [file, text] of tutorial) if (file.includes('.')) await writeFile(join(directory, file), text)
  server = spawn('bash', ['--norc', '-euc', `${tutorial.get('secret')}exec ${tutorial.get('run')}`], {
    cwd: directory,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      BASE: service.base,
      KEY: service.ready.api_key,
      ADDRESS: `http://${gate.host}`,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: server.stdout! }), 'line')) as [string]
  gate.target = Number(new URL(line).port)
}

const post = (path: string, body?: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(new URL(path, `http://${gate.host}`), { method: 'POST', body: body ?? null, headers })

/** What the page does after a file was chosen. @returns the job's id, and what the page is told at its end */
async function upload(file: string): Promise<{ job: string; told: { embed_html?: string; error?: string } }> {
  const { token, token_id, upload_url } = (await (await post('/token')).json()) as Record<string, string>
  const sent = await post(`${upload_url}?name=${file}`, await readFile(tempDir.file(file)), {
    authorization: `Bearer ${token}`,
  })
  expect(sent.status).toBe(201)
  const { job } = (await (await post('/film', token_id)).json()) as { job: string }
  // As an EventSource does, it asks again when the answer ends without an event.
  const event = await waitFor(
    'the event',
    async () => /^data: (.*)$/m.exec(await (await fetch(`http://${gate.host}/events?job=${job}`)).text()),
    JOB_TIMEOUT_MS,
  )
  return { job, told: JSON.parse(event[1]!) }
}

const shareOf = (embedHtml = ''): string => /src="([^"]+)\/embed"/.exec(embedHtml)![1]!

/** The first address of a playlist: of a rendition, or of a segment. */
async function firstOf(address: string): Promise<{ first: string; init: string | undefined }> {
  const text = await (await fetch(address)).text()
  const init = /^#EXT-X-MAP:.*URI="([^"]+)"/m.exec(text)?.[1]
  const first = /^[^#\s].*$/m.exec(text)![0]
  return { first: new URL(first, address).href, init: init && new URL(init, address).href }
}

describe.for(['node', 'python'] as const)('docs/tutorials/%s.md', (name) => {
  beforeAll(async () => {
    if (lacks(name) === undefined) await follow(name)
  })
  test('its server has the page, and its upload becomes a player whose first segment decodes', async (context) => {
    requirePrograms(context, name)
    expect(await (await fetch(`http://${gate.host}/`)).text()).toBe(indexHtml)
    const { job, told } = await upload('film.mp4')
    const share = shareOf(told.embed_html)
    expect((await fetch(`${share}/embed`)).status).toBe(200)
    const { sources } = (await (await fetch(`${share}/data`)).json()) as SharedMedia
    const { first: rendition } = await firstOf(sources.find(({ kind }) => kind === 'hls')!.url)
    const { first, init } = await firstOf(rendition)
    const parts = await Promise.all([init!, first].map(async (each) => (await fetch(each)).bytes()))
    await writeFile(tempDir.file('segment.mp4'), Buffer.concat(parts))
    expect(await decodeFrames(tempDir.file('segment.mp4'))).toHaveLength(50)

    const listed = await service.call(`/api/v0/job?search=${job}`)
    const { jobs } = (await listed.json()) as { jobs: { _auto_generated_id_: number }[] }
    const answer = await service.call(`/api/v0/job/${jobs[0]!._auto_generated_id_}/webhooks`)
    expect(await answer.json()).toMatchObject({ deliveries: [{ event: 'job.completed', state: 'delivered' }] })
  })

  test('a file that is no film: the page is told why', async (context) => {
    requirePrograms(context, name)
    expect((await upload('notes.mp4')).told.error).toContain('The source is text')
  })

  test('a webhook without the right signature is refused', async (context) => {
    requirePrograms(context, name)
    const body = JSON.stringify({ type: 'job.failed', data: { job_id: 'forged', error: { message: 'forged' } } })
    const seconds = String(Math.floor(Date.now() / 1000))
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': 'v1,AAAA' }
    expect((await post('/webhook', body, headers)).status).toBe(400)
  })
})

test('the page of the tutorials plays what a visitor chose', async (context) => {
  requireChromium(context, chromium)
  requirePrograms(context, 'node')
  await follow('node')
  await using browser = await launchChromium(chromium!)
  const page = await browser.newPage()
  await page.goto(`http://${gate.host}/`)
  await page.getByLabel('Film').setInputFiles(tempDir.file('film.mp4'))
  const player = page.frameLocator('main iframe')
  await player.getByRole('button', { name: /^Play/ }).click({ timeout: JOB_TIMEOUT_MS })
  const height = () =>
    player
      .locator('video')
      .evaluate((video: { currentTime: number; videoHeight: number }) => video.currentTime > 0.2 && video.videoHeight)
  await expect.poll(height, { timeout: STEP_TIMEOUT_MS }).toBe(180)
})

/** Commands of a tutorial, in the directory of the films, where `npx splicepoint` is that of this checkout. */
async function shell(script: string): Promise<string> {
  const npx = `npx() { shift; '${process.execPath}' '${SPLICEPOINT}' "$@"; }`
  // The line that `npm start` prints.
  const env = { BASE: service.base, KEY: service.ready.api_key }
  const names = { ...env, SPLICEPOINT_URL: env.BASE, SPLICEPOINT_KEY: env.KEY }
  return (await runBash(`${npx}\n${script}`, { cwd: tempDir.path, env: names })).stdout
}

describe('docs/tutorials/bucket.md', () => {
  let keys: string
  beforeAll(async () => {
    s3.put('films/in/film.mp4', await readFile(tempDir.file('film.mp4')), 'video/mp4')
    keys = bucket
      .get('keys')!
      .replace('AKIAEXAMPLE', S3_KEYS.accessKey)
      .replace('your-secret-key', S3_KEYS.secretKey)
      .replace(/https:\S+/, `http://${s3.host}`)
  })
  const stored = () => [...s3.objects.keys()].filter((key) => key.startsWith('films/out/'))

  test('its plan writes nothing, and its command writes streams whose first segment decodes', async () => {
    expect(await shell(keys + bucket.get('plan')!)).toContain('dry run completed')
    expect(stored()).toEqual([])
    expect(await shell(keys + bucket.get('run')!)).toMatch(/^Job \d+ completed in /)
    expect(stored()).toEqual(expect.arrayContaining(['films/out/film/master.m3u8', 'films/out/film/manifest.mpd']))
    await decodes()
  })

  test('its request writes the same', async (context) => {
    requirePrograms(context, 'node')
    for (const key of stored()) s3.objects.delete(key)
    const created = JSON.parse(await shell(keys + bucket.get('request')!)) as { _auto_generated_id_: number }
    expect(await service.waitForEnd(created._auto_generated_id_)).toMatchObject({ error: null, warnings: [] })
    await decodes()
  })

  /** The first segment of the bucket's HLS has every frame of the film. */
  async function decodes(): Promise<void> {
    const at = (path: string) => Buffer.from(s3.objects.get(path)!.bytes)
    const linked = (list: string, pattern: RegExp) => join(dirname(list), pattern.exec(at(list).toString())![1]!)
    const rendition = linked('films/out/film/master.m3u8', /^([^#\s].*)$/m)
    const parts = [linked(rendition, /^#EXT-X-MAP:.*URI="([^"]+)"/m), linked(rendition, /^([^#\s].*)$/m)]
    await writeFile(tempDir.file('bucket.mp4'), Buffer.concat(parts.map(at)))
    expect(await decodeFrames(tempDir.file('bucket.mp4'))).toHaveLength(50)
  }

  test('its rule for CORS is JSON', () => {
    expect(JSON.parse(bucket.get('cors.json')!)).toMatchObject({ CORSRules: [{ AllowedMethods: ['GET', 'HEAD'] }] })
  })
})

describe('docs/tutorials/cues.md', () => {
  /** Out at 1.2 s, back at 2.2 s: no regular key frame is there. */
  const BREAK = spliceInsert({ eventId: 7, out: true, pts: 108_000, breakTicks: 90_000, autoReturn: true })
  beforeAll(async () => {
    const clip = { width: 320, height: 180, seconds: 3, audio: [2], flags: ['-f', 'mpegts'] } satisfies ClipOptions
    await makeCueClip(tempDir.file('feed.ts'), clip, [cueAtSeconds(0.5, BREAK)])
    for (const name of ['ts.json', 'hls.json']) await writeFile(tempDir.file(name), cues.get(name)!)
  })

  test('its transport stream has the cue, at a key frame of the same time, on PID 500', async () => {
    expect(await shell(cues.get('ts')!)).not.toMatch(/ cues/)
    const bytes = await readFile(tempDir.file('playout/news.ts'))
    expect(readCues(bytes)).toMatchObject([{ kind: 'insert', eventId: 7, splices: [1.2] }])
    const packets = await readPackets(tempDir.file('playout/news.ts'))
    const first = Number(packets[0]!.pts_time)
    const keys = packets.filter(({ flags }) => flags.startsWith('K')).map(({ pts_time }) => Number(pts_time) - first)
    for (const time of [1.2, 2.2]) expect(keys).toContainEqual(expect.closeTo(time, 3))
    expect(splitPackets(bytes).some((packet) => pidOf(packet) === 500)).toBe(true)
    expect(await decodeFrames(tempDir.file('playout/news.ts'))).toHaveLength(75)
  })

  test('its playlists list the break, and a segment begins there', async () => {
    const lines = (await shell(cues.get('hls')!)).match(/^#EXT-X-DATERANGE:.*$/gm)!
    expect(lines.join('\n')).toMatch(/SCTE35-OUT=0xFC30/i)
    const list = await shell("cat $(grep -l DATERANGE $(find stream -name '*.m3u8') | head -n 1)")
    let end = 0
    const ends = [...list.matchAll(/^#EXTINF:([\d.]+)/gm)].map(([, seconds]) => (end += Number(seconds)))
    for (const time of [1.2, 2.2]) expect(ends).toContainEqual(expect.closeTo(time, 3))
    const manifest = await readFile(tempDir.file('stream/manifest.mpd'), 'utf8')
    expect(manifest).toContain('<EventStream')
  })
})
