// In charge of: real browsers that record the card, one process for all recordings of a browser.
// Not in charge of: the page's script (recorder.js), which recordings (rows/browsers.ts).
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.ts'
import { LoopbackServer } from '../../support/http/loopbackServer.ts'
import { runProgram } from '../../support/runProgram.ts'
import { JOB_TIMEOUT_MS } from '../../support/timeouts.ts'
import { readBody } from '../../support/transcoder/fakeTaskApi.ts'
import { Missing, type Source, type Workshop } from './workshop.ts'

export interface Recording {
  /** Its file. */
  name: string
  /** MIME type with codecs. */
  type: string
  rate: number
  seconds: number
  width?: number
  height?: number
  audio?: boolean
  /** From and to, in seconds: the recorder pauses, the picture goes on. */
  pause?: readonly [number, number]
  /** From a second on, the canvas has this size. */
  sizes?: readonly (readonly [number, number, number])[]
}

export type Browser = 'Chromium' | 'Firefox'

type Made = Map<string, Buffer | Missing>

const FIREFOX_PREFERENCES = {
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  'media.autoplay.block-webaudio': false,
}

/** The command that opens an address without a window; throws if there is no such browser. */
async function commandOf(browser: Browser, profile: string, address: string): Promise<[string, ...string[]]> {
  if (browser === 'Chromium') {
    const path = await findChromium()
    if (path === null) throw new Missing('there is no Chromium: install chromium, or set CHROMIUM_PATH')
    return [path, '--headless', `--user-data-dir=${profile}`, ...CHROMIUM_FLAGS, address]
  }
  const found = await runProgram('which', ['firefox-esr'])
  if (found.code !== 0) throw new Missing('there is no Firefox: install firefox-esr')
  const lines = Object.entries(FIREFOX_PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});\n`)
  await writeFile(join(profile, 'user.js'), lines.join(''))
  return ['firefox-esr', '--headless', '--no-remote', '--profile', profile, address]
}

async function recordAll(browser: Browser, kinds: readonly Recording[]): Promise<Made> {
  const profile = await mkdtemp(join(tmpdir(), 'splicepoint-recorder-'))
  await mkdir(profile, { recursive: true })
  const made: Made = new Map()
  let complete = (): void => undefined
  const all = new Promise<void>((done) => (complete = done))
  const script = await readFile(join(import.meta.dirname, 'recorder.js'), 'utf8')
  await using server = await LoopbackServer.serve(async (request, response) => {
    const [, status, name] = (request.url ?? '').split('/')
    if (request.method !== 'POST') {
      const page = `<!doctype html><body><script>${script}\nrecordAll(${JSON.stringify(kinds)})</script></body>`
      return response.writeHead(200, { 'content-type': 'text/html' }).end(status === '' ? page : '')
    }
    const body = await readBody(request)
    const type = kinds.find((kind) => kind.name === name)?.type
    if (status === 'failed') made.set(name!, new Missing(`${browser} could not record: ${body.toString()}`))
    else made.set(name!, status === 'made' ? body : new Missing(`this ${browser} does not record ${type}`))
    response.end()
    if (made.size === kinds.length) complete()
  })
  const [program, ...args] = await commandOf(browser, profile, server.url)
  const env = { ...process.env, HOME: profile }
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true })
  const closed = new Promise<void>((done) => child.once('close', () => done()))
  let late: NodeJS.Timeout | undefined
  try {
    const tooLate = new Promise<never>((_, fail) => {
      late = setTimeout(() => fail(new Error(`${browser} made ${made.size} of ${kinds.length}`)), JOB_TIMEOUT_MS)
    })
    await Promise.race([all, tooLate, closed.then(() => Promise.reject(new Error(`${browser} ended by itself`)))])
    return made
  } finally {
    clearTimeout(late)
    // With its helper processes.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    await closed
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

const started = new Map<string, Promise<Made>>()

/** A recording; all of `kinds` are made together when the first one is asked for. */
export async function recorded(
  shop: Workshop,
  browser: Browser,
  name: string,
  kinds: readonly Recording[],
): Promise<Source> {
  const run = started.get(browser) ?? recordAll(browser, kinds)
  started.set(browser, run)
  const file = (await run).get(name)!
  if (file instanceof Missing) throw file
  await writeFile(shop.file(name), file)
  return { path: shop.file(name) }
}
