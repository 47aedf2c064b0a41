// In charge of: the version of the command.
import { readFileSync } from 'node:fs'

/** Put in by scripts/package.ts; a checkout reads its own. */
declare const SPLICEPOINT_VERSION: string | undefined

export function version(): string {
  if (typeof SPLICEPOINT_VERSION === 'string') return SPLICEPOINT_VERSION
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
