// In charge of: a local service for the benchmarks, with its own data directory, and stopping everything that was
// started.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { childrenOf } from '../scripts/local/processes/processGroup.ts'
import { ROOT } from '../scripts/local/localSettings.ts'
import type { Pids } from './cpuByProcess.ts'

export interface BenchService extends AsyncDisposable {
  baseUrl: string
  apiKey: string
  /** 0 if its transcoders run elsewhere. */
  transcoderPid: number
  /** Of all transcoders. */
  transcoderPids: number[]
  /** The processes that run the Worker: Node, which opens the connections, and its workerd child processes. */
  workerPids: number[]
  /** The process ids by which the CPU time of a job is split (cpuByProcess.ts). */
  pids: Pids
  /** A temporary directory that is removed together with the service. */
  workDir: string
}

interface ReadyLine {
  base_url: string
  api_key: string
  pids: { worker: number; transcoders: number[] }
}

/** @param onCores begins on these cores only, as `taskset` writes them */
export async function startService(
  env: Record<string, string> = {},
  onCores: string | null = null,
): Promise<BenchService> {
  const workDir = await mkdtemp(join(tmpdir(), 'splicepoint-bench-'))
  const command = [process.execPath, join(ROOT, 'scripts', 'start.ts'), '--json']
  const [program = '', ...args] = onCores === null ? command : ['taskset', '--cpu-list', onCores, ...command]
  const child = spawn(program, args, {
    env: { ...process.env, PORT: '0', STATE_DIR: join(workDir, 'state'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const orphan = (): void => void child.kill()
  process.on('exit', orphan)
  const stop = async (): Promise<void> => {
    process.off('exit', orphan)
    child.kill('SIGTERM')
    await ended
    await rm(workDir, { recursive: true, force: true, maxRetries: 3 })
  }
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => JSON.parse(String(text)) as ReadyLine),
    ended.then(() => null),
  ])
  if (line === null) throw new Error('The service did not start.')
  const [transcoderPid = 0] = line.pids.transcoders
  const workerPids = [line.pids.worker, ...childrenOf(line.pids.worker).map(({ pid }) => pid)]
  return {
    workerPids,
    pids: { transcoder: transcoderPid, worker: [...workerPids, ...(child.pid === undefined ? [] : [child.pid])] },
    baseUrl: line.base_url,
    apiKey: line.api_key,
    transcoderPid,
    transcoderPids: line.pids.transcoders,
    workDir,
    [Symbol.asyncDispose]: stop,
  }
}
