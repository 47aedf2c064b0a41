// In charge of: `npm run restore -- DIRECTORY`: puts a backup into an empty STATE_DIR; with `--check` it only checks the
// backup.
// Not in charge of: taking one (backup.ts).
import { resolve, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readSettings, STARTED_FROM } from './local/localSettings.ts'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { openStateDirectory } from './local/stateDirectory.ts'
import { acquireStateLock } from './local/stateLock.ts'
import { copyHashed } from './backup/copyFile.ts'
import { readManifest, type BackupManifest } from './backup/manifest.ts'

/** What a start that failed leaves in a data directory, and what is made anew. */
const EXPENDABLE = new Set(['run', 'logs', 'work'])

/** Reads every byte. @throws Error with a message for people */
async function checkBackup(source: string): Promise<BackupManifest> {
  const manifest = await readManifest(source)
  await copyFiles(manifest, source, null)
  return manifest
}

/** @throws Error with a message for people. The directory is as before then */
async function restoreBackup(source: string, stateDir: string): Promise<BackupManifest> {
  const manifest = await readManifest(source)
  const found = (await readdir(stateDir).catch(() => [])).filter((name) => !EXPENDABLE.has(name))
  if (found.length > 0)
    throw new Error(
      `${stateDir} is not empty (${found.slice(0, 3).join(', ')}). A backup is restored into a new directory only: set STATE_DIR to another one, or move this one away.`,
    )
  await mkdir(stateDir, { recursive: true })
  const { path, runDir } = await openStateDirectory(stateDir)
  // No service starts in a directory that is half restored.
  const lock = await acquireStateLock(path, runDir)
  const draft = join(runDir, 'restore')
  try {
    await rm(draft, { recursive: true, force: true })
    await copyFiles(manifest, source, draft)
    // The secrets last: without them the directory does not count as one of a service.
    for (const name of ['v3', 'secrets.json']) {
      if (!manifest.files.some((file) => file.path === name || dirname(file.path).split('/')[0] === name)) continue
      if (name === 'v3') await rm(join(path, name), { recursive: true, force: true })
      await rename(join(draft, name), join(path, name))
    }
  } catch (error) {
    await rm(join(path, 'v3'), { recursive: true, force: true })
    throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
    lock.release()
  }
  return manifest
}

async function copyFiles({ files }: BackupManifest, source: string, target: string | null): Promise<void> {
  for (const { path, size, sha256 } of files) {
    const copied = await copyHashed(join(source, path), target === null ? null : join(target, path)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        throw new Error(`The backup is incomplete: ${path} is missing.`, { cause: error })
      },
    )
    if (copied.size !== size || copied.sha256 !== sha256) throw new Error(`The backup is damaged: ${path} has changed.`)
  }
}

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
