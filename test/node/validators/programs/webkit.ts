// In charge of: WebKitGTK's MiniBrowser on a virtual display, controlled by WebDriver.
// Not in charge of: expectations (browserPlayback.ts).
import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { servePlayerPage } from '../../../support/browser/pageServer.ts'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
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

const [BROWSER = '/usr/lib/webkit2gtk-4.1/MiniBrowser'] = globSync('/usr/lib/*/webkit2gtk-4.1/MiniBrowser')

/** A currently free port: the driver cannot choose one and report it. */
async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port))
  })
  await new Promise((done) => server.close(done))
  return port
}

/** Programs that are ended together, the last one first. */
class Programs implements AsyncDisposable {
  readonly #ends: (() => Promise<unknown>)[] = []

  start(program: string, args: readonly string[], env: NodeJS.ProcessEnv, read = false): NodeJS.ReadableStream | null {
    const stdio = ['ignore', 'ignore', 'ignore', ...(read ? (['pipe'] as const) : [])] as const
    const child = spawn(program, [...args], { env, stdio: [...stdio] })
    const closed = new Promise((done) => {
      child.once('close', done)
      child.once('error', done)
    })
    this.#ends.push(() => {
      child.kill('SIGTERM')
      return closed
    })
    return (child.stdio[3] ?? null) as NodeJS.ReadableStream | null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }
}

async function withWebKit<T>(
  use: (play: (player: Player, address: string) => Promise<PlaybackReport>) => Promise<T>,
): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'splicepoint-webkit-'))
  try {
    await using pages = await servePlayerPage()
    await using programs = new Programs()
    const display = programs.start(
      'Xvfb',
      ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp'],
      process.env,
      true,
    )!
    const number = await new Promise<string>((done) =>
      display.once('data', (chunk: Buffer) => done(chunk.toString().trim())),
    )
    const port = await freePort()
    programs.start('WebKitWebDriver', [`--port=${port}`], {
      ...process.env,
      DISPLAY: `:${number}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      NO_AT_BRIDGE: '1',
    })
    const call = async (method: string, path: string, body?: object): Promise<any> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent })
      const { value } = (await response.json()) as { value: any }
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
      return value
    }
    await waitFor('WebKitWebDriver', () => call('GET', '/status').catch(() => null))
    const options = { binary: BROWSER, args: ['--automation', '--autoplay-policy=allow'] }
    const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } }
    const { sessionId } = await call('POST', '/session', { capabilities })
    const session = `/session/${sessionId}`
    const read = (text: string): Promise<any> => call('POST', `${session}/execute/sync`, { script: text, args: [] })
    try {
      return await use(async (player, address) => {
        await call('POST', `${session}/url`, { url: pages.url })
        const start = `play(${JSON.stringify(player)}, ${JSON.stringify(address)}, 1)`
        await read(`void ${start}.catch((e) => seen.errors.push(String(e)))`)
        // dash.js may change the duration afterwards.
        let hasEnded = false
        await waitFor(
          `${address} to end in WebKitGTK`,
          async () => {
            const { ended, errors } = (await read('return state()')) as PlaybackReport
            hasEnded = ended
            return ended || errors.some(isFatal)
          },
          JOB_TIMEOUT_MS,
        )
        return { ...(JSON.parse(await read(`return ${REPORT}`)) as PlaybackReport), ended: hasEnded }
      })
    } finally {
      await call('DELETE', session).catch(() => undefined)
    }
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  }
}

export const webkit: Validator = {
  name: 'webkit',
  missing: missingPrograms('WebKitWebDriver', 'Xvfb', existsSync(BROWSER) ? BROWSER : 'MiniBrowser'),
  jobs: Object.keys(PLAYBACKS) as JobName[],
  faults: FAULTS,
  // One window plays at a time. Its MediaSource reports support for AC-3, which hls.js then prefers, and fails with an
  // error.
  validate: (output) =>
    withWebKit((play) => playInBrowser(output, play, ({ player }) => output.job !== 'cmaf' || player !== 'hls', false)),
}
