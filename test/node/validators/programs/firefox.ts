// In charge of: headless Firefox, controlled by WebDriver BiDi: one window for each address that it plays.
// Not in charge of: expectations (browserPlayback.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { servePlayerPage } from '../../../support/browser/pageServer.ts'
import type { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { JOB_TIMEOUT_MS, STEP_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { waitFor } from '../../../support/testClient.ts'
import type { JobName } from '../validatedJobs.ts'
import type { Validator } from '../validator.ts'
import { missingPrograms } from '../installedPrograms.ts'
import {
  FAULTS,
  isFatal,
  PLAYBACKS,
  REPORT,
  playInBrowser,
  type Player,
  type PlaybackReport,
} from '../browserPlayback.ts'

const PREFERENCES = {
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  // Windows cover each other.
  'media.block-autoplay-until-in-foreground': false,
  'media.suspend-bkgnd-video.enabled': false,
  'remote.active-protocols': 1,
  'app.normandy.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
}

type Answer = { id: number; type: 'success' | 'error'; result?: unknown; message?: string }

/** One connection of WebDriver BiDi. */
class Session {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #count = 0
  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer
      this.#waiting.get(answer.id)?.(answer)
    })
    socket.addEventListener('close', () => {
      for (const [id, done] of this.#waiting) done({ id, type: 'error', message: 'the connection ended' })
    })
  }

  static async open(address: string): Promise<Session> {
    const socket = new WebSocket(address)
    await new Promise((done, fail) => {
      socket.addEventListener('open', done)
      socket.addEventListener('error', () => fail(new Error(`no connection to ${address}`)))
    })
    const session = new Session(socket)
    await session.send('session.new', { capabilities: {} })
    return session
  }

  async send(method: string, params: object): Promise<any> {
    const id = ++this.#count
    const answer = await new Promise<Answer>((done) => {
      this.#waiting.set(id, done)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
    this.#waiting.delete(id)
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`)
    return answer.result
  }

  /** The value of an expression in the page, as text. */
  async read(context: string, expression: string): Promise<string> {
    const given = { expression, target: { context }, awaitPromise: true }
    const { result, exceptionDetails } = await this.send('script.evaluate', given)
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text)
    return String(result.value)
  }

  close(): void {
    this.#socket.close()
  }
}

/** Its listening address, from its output. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let printed = ''
    const late = setTimeout(() => fail(new Error(`Firefox does not listen: ${printed}`)), STEP_TIMEOUT_MS)
    child.stderr?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      const address = /WebDriver BiDi listening on (ws:\S+)/.exec(printed)?.[1]
      if (address === undefined) return
      clearTimeout(late)
      done(`${address}/session`)
    })
    child.once('close', () => fail(new Error(`Firefox ended: ${printed}`)))
  })
}

/** A Firefox that plays addresses, each in a separate window. */
class Firefox implements AsyncDisposable {
  readonly #session: Session
  readonly #pages: LoopbackServer
  readonly #end: () => Promise<void>
  private constructor(session: Session, pages: LoopbackServer, end: () => Promise<void>) {
    this.#session = session
    this.#pages = pages
    this.#end = end
  }

  static async start(): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'splicepoint-firefox-'))
    const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});\n`)
    await writeFile(join(profile, 'user.js'), lines.join(''))
    const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank']
    const env = { ...process.env, HOME: profile }
    const child = spawn('firefox-esr', args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const closed = new Promise((done) => child.once('close', done))
    const end = async (): Promise<void> => {
      child.kill('SIGKILL')
      await closed
      await rm(profile, { recursive: true, force: true, maxRetries: 3 })
    }
    try {
      return new Firefox(await Session.open(await listening(child)), await servePlayerPage(), end)
    } catch (error) {
      await end()
      throw error
    }
  }

  async play(player: Player, address: string): Promise<PlaybackReport> {
    const session = this.#session
    const { context } = await session.send('browsingContext.create', { type: 'window' })
    await session.send('browsingContext.navigate', { context, url: this.#pages.url, wait: 'complete' })
    const start = `play(${JSON.stringify(player)}, ${JSON.stringify(address)}, 1).catch((e) => seen.errors.push(String(e)))`
    await session.read(context, `void ${start}`)
    // dash.js may change the duration afterwards.
    let hasEnded = false
    await waitFor(
      `${address} to end in Firefox`,
      async () => {
        const { ended, errors } = JSON.parse(await session.read(context, 'JSON.stringify(state())')) as PlaybackReport
        hasEnded = ended
        return ended || errors.some(isFatal)
      },
      JOB_TIMEOUT_MS,
    )
    const shown = { ...(JSON.parse(await session.read(context, REPORT)) as PlaybackReport), ended: hasEnded }
    await session.send('browsingContext.close', { context })
    return shown
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.close()
    await this.#pages[Symbol.asyncDispose]()
    await this.#end()
  }
}

let running: Promise<Firefox> | undefined

export const firefox: Validator = {
  name: 'firefox',
  missing: missingPrograms('firefox-esr'),
  jobs: Object.keys(PLAYBACKS) as JobName[],
  faults: FAULTS,
  async validate(output) {
    running ??= Firefox.start()
    const one = await running
    return playInBrowser(
      output,
      (player, address) => one.play(player, address),
      () => true,
      true,
    )
  },
  async close() {
    const one = await running?.catch(() => undefined)
    await one?.[Symbol.asyncDispose]()
  },
}
