// In charge of: headless Chromium, and the page with the players that it opens.
// Not in charge of: what is played, expectations.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type BrowserContext } from 'playwright-core'
import { FLAGS } from '../../../scripts/chromium.ts'
import { JOB_PATIENCE_MS, PATIENCE_MS } from '../patience.ts'

export { findChromium, FLAGS } from '../../../scripts/chromium.ts'

export type PlayerName = 'hls' | 'shaka' | 'dash'

/** What the page kept (page.js). Times are seconds of the media's timeline. */
export interface Played {
  errors: string[]
  /** Every picture that was composed. A browser without time to spare leaves some out. */
  pictures: { time: number; bright: boolean }[]
  /** Heights of the pictures, where they changed. */
  heights: number[]
  texts: { kind: string; label: string; start: number; text: string }[]
  cues: { id: string; start: number }[]
  /** What the decoder was given, in order. */
  appended: { kind: 'audio' | 'video'; offset: number; bytes: Buffer }[]
  /** Renditions that the player had to choose from when it changed. */
  switched: number | null
  duration: number
  ended: boolean
  dropped: number
  total: number
  buffered: [number, number][]
  /** Answers that were not 2xx, and errors of the console. */
  trouble: string[]
}

/** As it comes out of the page: bytes are text there. */
type Report = Omit<Played, 'appended' | 'trouble'> & {
  appended: { kind: 'audio' | 'video'; offset: number; bytes: string }[]
}

const require = createRequire(import.meta.url)
const packageDirectory = (name: string): string => {
  const main = require.resolve(name)
  return main.slice(0, main.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length)
}
const files: Record<string, { path: () => string; type: string }> = {
  '/': { path: () => join(import.meta.dirname, 'page.html'), type: 'text/html' },
  '/page.js': { path: () => join(import.meta.dirname, 'page.js'), type: 'text/javascript' },
  '/hls.js': { path: () => join(packageDirectory('hls.js'), 'dist/hls.js'), type: 'text/javascript' },
  '/shaka.js': {
    path: () => join(packageDirectory('shaka-player'), 'dist/shaka-player.compiled.js'),
    type: 'text/javascript',
  },
  '/dash.js': {
    path: () => join(packageDirectory('dashjs'), 'dist/modern/umd/dash.all.min.js'),
    type: 'text/javascript',
  },
  '/mss.js': {
    path: () => join(packageDirectory('dashjs'), 'dist/modern/umd/dash.mss.min.js'),
    type: 'text/javascript',
  },
}

export class PlayerBrowser {
  readonly #server: Server
  readonly #context: BrowserContext
  readonly #profile: string
  private constructor(server: Server, context: BrowserContext, profile: string) {
    this.#server = server
    this.#context = context
    this.#profile = profile
  }

  static async start(executablePath: string): Promise<PlayerBrowser> {
    const server = createServer((request, response) => {
      const file = files[request.url ?? '']
      if (file === undefined) return void response.writeHead(404).end()
      readFile(file.path()).then(
        (bytes) => response.writeHead(200, { 'content-type': file.type }).end(bytes),
        () => response.writeHead(500).end(),
      )
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const profile = await mkdtemp(join(tmpdir(), 'splicepoint-chromium-'))
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      headless: true,
      args: FLAGS,
      timeout: PATIENCE_MS,
    })
    context.setDefaultTimeout(PATIENCE_MS)
    return new PlayerBrowser(server, context, profile)
  }

  /** Plays an address to its end; changes the rendition at `changeAt`. */
  async play(player: PlayerName, address: string, changeAt: number): Promise<Played> {
    const page = await this.#context.newPage()
    const trouble: string[] = []
    try {
      page.on('response', (response) => {
        if (response.status() >= 400 && !response.url().endsWith('/favicon.ico'))
          trouble.push(`${response.status()} ${response.url()}`)
      })
      page.on('pageerror', (error) => trouble.push(`page: ${error.message}`))
      await page.goto(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`)
      const started = page.evaluate(`play(${JSON.stringify(player)}, ${JSON.stringify(address)}, ${changeAt})`)
      started.catch((error: unknown) => trouble.push(`play: ${String(error)}`))
      const deadline = Date.now() + JOB_PATIENCE_MS
      for (;;) {
        const state = await page.evaluate<{ ended: boolean }>('state()')
        if (state.ended || trouble.length > 0) break
        if (Date.now() > deadline) {
          trouble.push(`still playing after ${JOB_PATIENCE_MS / 1000} s: ${JSON.stringify(state)}`)
          break
        }
        await pause(100)
      }
      const report = await page.evaluate<Report>('report()')
      const appended = report.appended.map(({ bytes, ...rest }) => ({ ...rest, bytes: Buffer.from(bytes, 'base64') }))
      return { ...report, appended, trouble }
    } finally {
      await page.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close()
    await new Promise((done) => this.#server.close(done))
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 3 })
  }
}
