// In charge of: finding the Chromium for tests and benchmarks, and its flags.
import { access } from 'node:fs/promises'

const CANDIDATES = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
]

/** Path of a Chromium; null if there is none. */
export async function findChromium(): Promise<string | null> {
  for (const path of CANDIDATES) {
    if (path === undefined) continue
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return null
}
