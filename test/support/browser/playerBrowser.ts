// In charge of: headless Chromium, which opens the page with the players.
// Not in charge of: the page (pageServer.ts), what is played, expectations.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type BrowserContext } from 'playwright-core'
import { CHROMIUM_FLAGS } from '../../../scripts/chromium.ts'
import { JOB_TIMEOUT_MS, STEP_TIMEOUT_MS } from '../timeouts.ts'
import type { LoopbackServer } from '../http/loopbackServer.ts'
import { servePlayerPage } from './pageServer.ts'

export { findChromium, CHROMIUM_FLAGS } from '../../../scripts/chromium.ts'

export type PlayerName = 'hls' | 'shaka' | 'dash'

/** What page.js recorded. Times are seconds of the media timeline. */
export interface PlaybackResult {
  errors: string[]
  /** Every frame that was composed. A browser under load skips some. */
  pictures: { time: number; bright: boolean }[]
  /** Heights of the frames, one entry for each change. */
  heights: number[]
  texts: { kind: string; label: string; start: number; end: number; text: string }[]
  cues: { id: string; start: number }[]
  /** What was appended to the decoder, in order. */
  appended: { kind: 'audio' | 'video'; offset: number; bytes: Buffer }[]
  /** Number of renditions that the player could choose from when it switched. */
  switched: number | null
  duration: number
  ended: boolean
  dropped: number
  total: number
  buffered: [number, number][]
  /** Responses that were not 2xx, and console errors. */
  trouble: string[]
}

/** As the page returns it: bytes are text there. */
type Report = Omit<PlaybackResult, 'appended' | 'trouble'> & {
  appended: { kind: 'audio' | 'video'; offset: number; bytes: string }[]
}

export class PlayerBrowser {
  readonly #pages: LoopbackServer
  readonly #context: BrowserContext
  readonly #profile: string
  private constructor(pages: LoopbackServer, context: BrowserContext, profile: string) {
    this.#pages = pages
    this.#context = context
    this.#profile = profile
  }

  static async start(executablePath: string): Promise<PlayerBrowser> {
    const pages = await servePlayerPage()
    const profile = await mkdtemp(join(tmpdir(), 'splicepoint-chromium-'))
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      headless: true,
      args: CHROMIUM_FLAGS,
      timeout: STEP_TIMEOUT_MS,
    })
    context.setDefaultTimeout(STEP_TIMEOUT_MS)
    return new PlayerBrowser(pages, context, profile)
  }

  /** Plays an address to its end; switches the rendition at `changeAt`. `language`: of a text track (page.js). */
  async play(
    player: PlayerName,
    address: string,
    changeAt: number,
    language: string | null = null,
  ): Promise<PlaybackResult> {
    const page = await this.#context.newPage()
    const trouble: string[] = []
    try {
      page.on('response', (response) => {
        if (response.status() >= 400 && !response.url().endsWith('/favicon.ico'))
          trouble.push(`${response.status()} ${response.url()}`)
      })
      page.on('pageerror', (error) => trouble.push(`page: ${error.message}`))
      await page.goto(this.#pages.url)
      const started = page.evaluate(
        `play(${[player, address, changeAt, language].map((each) => JSON.stringify(each)).join()})`,
      )
      started.catch((error: unknown) => trouble.push(`play: ${String(error)}`))
      const deadline = Date.now() + JOB_TIMEOUT_MS
      for (;;) {
        const state = await page.evaluate<{ ended: boolean }>('state()')
        if (state.ended || trouble.length > 0) break
        if (Date.now() > deadline) {
          trouble.push(`still playing after ${JOB_TIMEOUT_MS / 1000} s: ${JSON.stringify(state)}`)
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
    await this.#pages[Symbol.asyncDispose]()
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 3 })
  }
}
