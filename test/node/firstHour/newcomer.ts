// In charge of: simulating a new user's first hour: a clone of this checkout's last commit, `npm start` in one
// terminal, commands in another, and the duration of each step.
// Not in charge of: which commands (markdownCommands.ts), which files (newcomerClips.ts), expectations.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { JOB_TIMEOUT_MS } from '../../support/timeouts.ts'
import { ROOT, waitFor } from '../../support/service.ts'

const HOME_PAGE = 'https://github.com/splicepoint/splicepoint'

const run = promisify(execFile)
const copy = (flags: string, from: string, to: string) => run('cp', [flags, from, to])

export interface Terminal {
  stdout: string
  stderr: string
}

export class NewcomerSession implements AsyncDisposable {
  /** The user's working directory: the clone is a directory in it. */
  readonly home: string
  readonly clone: string
  readonly steps: { name: string; seconds: number }[] = []
  #service: ChildProcess | null = null
  #exports = ''

  private constructor(home: string) {
    this.home = home
    this.clone = join(home, 'splicepoint')
  }

  static async prepareMachine(): Promise<NewcomerSession> {
    return new NewcomerSession(await mkdtemp(join(tmpdir(), 'splicepoint-newcomer-')))
  }

  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      return await work()
    } finally {
      this.steps.push({ name, seconds: (performance.now() - began) / 1000 })
    }
  }

  /**
   * Runs the README's own line. Git reads this checkout in place of the home page's repository; packages come from this
   * checkout.
   */
  async getSource(command: string): Promise<void> {
    if (!command.startsWith(`git clone ${HOME_PAGE} `)) throw new Error(`README.md clones something else: ${command}`)
    await this.#bash(command, this.home)
    // Hard links if the disk supports them: no registry is used, and what `npm ci` deletes are the clone's own names.
    const [from, to] = [join(ROOT, 'node_modules'), join(this.clone, 'node_modules')]
    await copy('-al', from, to).catch(() => copy('-R', from, to))
  }

  /** Runs `npm start` until it prints the line that sets the variables. Returns all output. */
  async start(command: string): Promise<string> {
    // In a separate process group, which Ctrl-C ends as a whole.
    const child = spawn('bash', ['--norc', '-ec', command], {
      cwd: this.clone,
      env: this.#env({ PORT: '0' }),
      detached: true,
    })
    this.#service = child
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    await waitFor(
      'npm start to print its keys',
      () => {
        if (child.exitCode !== null) throw new Error(`npm start ended:\n${printed}`)
        return printed.includes('Ctrl-C')
      },
      JOB_TIMEOUT_MS,
    )
    this.#exports = /^ *(export BASE=.*)$/m.exec(printed)?.[1] ?? ''
    return printed
  }

  /** Runs what the user pastes into the other terminal, in the clone, after the export line. */
  runCommand(commands: string): Promise<Terminal> {
    return this.#bash(`${this.#exports}\n${commands}`, this.clone)
  }

  variable(name: string): string {
    return new RegExp(`\\b${name}=(\\S+)`).exec(this.#exports)?.[1] ?? ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#service
    if (child?.pid !== undefined && child.exitCode === null) {
      const gone = new Promise((resolve) => child.once('close', resolve))
      process.kill(-child.pid, 'SIGINT')
      await gone
    }
    await rm(this.home, { recursive: true, force: true, maxRetries: 3 })
  }

  #env(more: Record<string, string> = {}): NodeJS.ProcessEnv {
    const { PATH, HOME, LANG, FFMPEG_PATH, FFPROBE_PATH, npm_config_registry: registry } = process.env
    const known = { PATH, HOME, LANG, FFMPEG_PATH, FFPROBE_PATH, npm_config_registry: registry }
    return {
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
      TMPDIR: this.home,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${ROOT}.insteadOf`,
      GIT_CONFIG_VALUE_0: HOME_PAGE,
      WRANGLER_SEND_METRICS: 'false',
      ...more,
    }
  }

  #bash(script: string, cwd: string): Promise<Terminal> {
    return new Promise((resolve, reject) => {
      const options = { cwd, env: this.#env(), maxBuffer: 16 * 1024 * 1024 }
      execFile('bash', ['--norc', '-euc', script], options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`))
        else resolve({ stdout, stderr })
      })
    })
  }
}
