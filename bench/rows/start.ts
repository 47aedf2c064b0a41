// In charge of: how long the transcoder takes from the start of its process until it takes work, against Node alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '../../scripts/local/settings.ts'
import { median } from '../measure.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'

const RUNS = 7

export async function start({ runs }: BenchOptions): Promise<Row[]> {
  const ours: number[] = []
  const bare: number[] = []
  for (let at = 0; at < (runs ?? RUNS); at++) {
    ours.push(await untilFirstLine([join(ROOT, 'transcoder', 'main.ts')]))
    bare.push(await untilFirstLine(['-e', 'console.log(1);setTimeout(()=>{},1e6)']))
  }
  return [
    ratioRow(
      'transcoder’s start, against an empty Node',
      [median(ours), median(bare)],
      null,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
  ]
}

async function untilFirstLine(args: string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  const ms = performance.now() - began
  child.kill('SIGKILL')
  await ended
  return ms
}
