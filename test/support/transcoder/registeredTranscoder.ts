// In charge of: a transcoder that is started on its own, as on another machine, and registers itself at a service; the
// service's list of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TranscoderList } from '#contract/api/administration.ts'
import { ROOT, waitFor, type Service } from '../service.ts'

export const TRANSCODER_SECRET = 'a-secret-for-tests-of-32-letters'

export interface Line {
  msg?: string
  [name: string]: unknown
}

/** A transcoder as `npm run transcoder` starts it on another machine. */
export function startTranscoder(serviceUrl: string, env: Record<string, string> = {}) {
  const lines: Line[] = []
  const child = spawn(process.execPath, [join(ROOT, 'transcoder/main.ts')], {
    env: { ...process.env, HOST: '', PORT: '0', SERVICE_URL: serviceUrl, TRANSCODER_SECRET, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line))
  const find = (text: string): Line | undefined => lines.find(({ msg }) => msg === text)
  return {
    lines,
    logged: (text: string) => waitFor(`the transcoder to log "${text}"`, async () => find(text)),
    async kill(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal)
      const [code] = (await closed) as [number | null]
      return code
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await closed
    },
  }
}

export async function listTranscoders(service: Service): Promise<TranscoderList['transcoders']> {
  const headers = { authorization: `Basic ${btoa(`${service.ready.admin_key}:`)}` }
  const answer = await fetch(`${service.base}/api/v0/transcoders`, { headers })
  return ((await answer.json()) as TranscoderList).transcoders
}

export const findTranscoder = async (service: Service, id: string) =>
  (await listTranscoders(service)).find((one) => one.id === id)
