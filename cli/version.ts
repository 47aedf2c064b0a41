// In charge of: the version of the command.
import { readFileSync } from 'node:fs'

/** Set by scripts/package.ts. A checkout reads its own version. */
declare const SPLICEPOINT_VERSION: string | undefined

export function version(): string {
  if (typeof SPLICEPOINT_VERSION === 'string') return SPLICEPOINT_VERSION
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
