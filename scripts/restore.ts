// In charge of: `npm run restore -- DIRECTORY`: puts a backup into an empty STATE_DIR; with `--check` it only checks the
// backup.
// Not in charge of: the steps (backup/restoreBackup.ts), and taking one (backup.ts).
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkBackup, restoreBackup } from './backup/restoreBackup.ts'
import { readSettings, STARTED_FROM } from './local/localSettings.ts'

const USAGE = `Usage: npm run restore -- [--check] DIRECTORY

Restores a backup into the data directory (STATE_DIR), which must be empty. --check reads the whole backup and writes nothing.
`

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'boolean', default: false } },
  })
  const [source, ...others] = positionals
  if (source === undefined || others.length > 0) throw new Error(USAGE)
  const directory = resolve(STARTED_FROM, source)
  const { stateDir } = readSettings(process.env)
  const { created_at, files, version } = values.check
    ? await checkBackup(directory)
    : await restoreBackup(directory, stateDir)
  const done = values.check ? 'is complete and undamaged' : `is restored in ${stateDir}`
  process.stdout.write(`The backup of ${created_at} (version ${version}, ${files.length} files) ${done}.\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
