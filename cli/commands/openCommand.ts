// In charge of: `open`: the page of a job in the dashboard, in the browser of this machine.
import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' }

/** False where no browser can be opened, as over ssh. */
export function openInBrowser(address: string, platform = process.platform): Promise<boolean> {
  const program = OPENERS[platform]
  if (program === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const opener = spawn(program, [address], { stdio: 'ignore' })
    opener.once('error', () => resolve(false))
    opener.once('exit', (code) => resolve(code === 0))
  })
}
