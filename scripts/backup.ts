// In charge of: `npm run backup -- [--since EARLIER] DIRECTORY`: writes a backup of the data in STATE_DIR, also while the
// service runs.
// Not in charge of: the steps (backup/takeBackup.ts), and restoring it (restore.ts).
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { takeBackup } from './backup/takeBackup.ts'
import { readSettings, STARTED_FROM } from './local/localSettings.ts'

const USAGE = `Usage: npm run backup -- [--since EARLIER] DIRECTORY

Writes a backup of the service's data (STATE_DIR) into a new directory. The service may run.
--since EARLIER shares the stored files that an earlier backup on the same disk has too. Either may be deleted later.
`

const say = (line: string): void => void process.stderr.write(`${line}\n`)
try {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { since: { type: 'string' } } })
  const [target, ...others] = positionals
  if (target === undefined || others.length > 0) throw new Error(USAGE)
  const [directory, since] = [resolve(STARTED_FROM, target), values.since ? resolve(STARTED_FROM, values.since) : null]
  const { files, bytes, pausedMs } = await takeBackup(readSettings(process.env).stateDir, directory, since, say)
  const pause = pausedMs === null ? 'the service was not running' : `the service paused for ${Math.ceil(pausedMs)} ms`
  process.stdout.write(`${directory}: ${files} files, ${bytes} bytes; ${pause}.\n`)
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
