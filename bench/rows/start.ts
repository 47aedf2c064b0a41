// In charge of: the transcoder's start-up time until it listens, accepts work and is ready, against an empty Node
// process; with a Docker engine also in its image.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { IMAGE } from '../../scripts/image/buildImage.ts'
import { succeeds } from '../../scripts/image/docker.ts'
import { ROOT } from '../../scripts/local/localSettings.ts'
import { median } from '../stopwatch.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'

const RUNS = 7
/** From process start to an accepted `/run`. Every change of job on a slot costs this time. */
const GOAL_MS = 500

interface Start {
  /** Until it logs that it listens. */
  listens: number
  /** Until a `/run` that was sent at once is accepted. */
  accepts: number
  /** Until ffmpeg may start. */
  ready: number
}

const MAIN = [process.execPath, '--disable-warning=ExperimentalWarning', join(ROOT, 'transcoder', 'main.ts')]
const CONTAINER = ['docker', 'run', '--rm', '--network=host', '--env=HOST=127.0.0.1', '--env=PORT=0']

export async function start({ runs, note }: BenchOptions): Promise<Row[]> {
  const count = runs ?? RUNS
  const ours: Start[] = []
  const bare: number[] = []
  const contained: Start[] = []
  const hasImage = await succeeds('image', 'inspect', IMAGE)
  if (!hasImage) note('no Docker engine has the image (npm run build -- image): it is left out')
  for (let at = 0; at < count; at++) {
    ours.push(await untilReady(MAIN))
    bare.push(await untilPrinted())
    if (hasImage) contained.push(await untilReady([...CONTAINER, IMAGE]))
  }
  const ms = (value: number): string => `${value.toFixed(0)} ms`
  const empty = median(bare)
  const row = (name: string, value: number): Row => ratioRow(name, [value, empty], null, ms)
  const bound = (name: string, value: number): Row => ({
    ...row(name, value),
    goal: `≤ ${ms(GOAL_MS)}`,
    goalMet: value <= GOAL_MS,
  })
  const of = (starts: Start[], what: keyof Start): number => median(starts.map((each) => each[what]))
  return [
    row('transcoder listens, against an empty Node', of(ours, 'listens')),
    bound('transcoder accepts `/run`, against an empty Node', of(ours, 'accepts')),
    row('transcoder is ready for ffmpeg, against an empty Node', of(ours, 'ready')),
    ...(hasImage
      ? [
          bound('image: accepts `/run`, from the start of its process', of(contained, 'accepts')),
          row('image: is ready for ffmpeg, from the start of its process', of(contained, 'ready')),
        ]
      : []),
  ]
}

interface Line {
  transcoder?: 'listening' | 'ready'
  url?: string
  /** Measured by the transcoder from its process start: the engine needs time before that. */
  after_ms?: number
}

async function untilReady([command = '', ...args]: string[]): Promise<Start> {
  // A task API that answers 401 to everything, so the attempt ends after its first request.
  const taskApi = createServer((_request, response) => response.writeHead(401).end()).listen(0, '127.0.0.1')
  await once(taskApi, 'listening')
  const { port } = taskApi.address() as AddressInfo
  const child = spawn(command, args, {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  const start: Start = { listens: Number.NaN, accepts: Number.NaN, ready: Number.NaN }
  let accepting: Promise<number> = Promise.resolve(Number.NaN)
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line
    if (line.transcoder === 'listening') {
      const { url = '', after_ms: own = 0 } = line
      start.listens = own
      accepting = accept(url, `http://127.0.0.1:${port}`)
    } else if (line.transcoder === 'ready') {
      start.ready = line.after_ms ?? Number.NaN
      start.accepts = start.listens + (await accepting)
      child.kill('SIGTERM')
    }
  }
  await ended
  taskApi.closeAllConnections()
  taskApi.close()
  return start
}

/** @returns the duration of the answer */
async function accept(url: string, taskApiUrl: string): Promise<number> {
  const began = performance.now()
  const body = { protocol: TASK_PROTOCOL, task_id: 'bench', attempt: 1, token: 'none', task_api_url: taskApiUrl }
  const { status } = await fetch(`${url}/run`, { method: 'POST', body: JSON.stringify(body) })
  if (status !== 202) throw new Error(`/run was answered ${status}.`)
  return performance.now() - began
}

async function untilPrinted(): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, ['-e', 'console.log(1);setTimeout(()=>{},1e6)'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  const ms = performance.now() - began
  child.kill('SIGKILL')
  await ended
  return ms
}
