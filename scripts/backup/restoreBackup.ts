// In charge of: putting a backup into an empty data directory, and checking one without that.
// Not in charge of: taking one (takeBackup.ts); the service, which applies newer migrations at its start.
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openStateDirectory } from '../local/stateDirectory.ts'
import { acquireStateLock } from '../local/stateLock.ts'
import { copyHashed } from './copyFile.ts'
import { readManifest, type BackupManifest } from './manifest.ts'

/** What a start that failed leaves in a data directory, and what is made anew. */
const EXPENDABLE = new Set(['run', 'logs', 'work'])

/** Reads every byte. @throws Error with a message for people */
export async function checkBackup(source: string): Promise<BackupManifest> {
  const manifest = await readManifest(source)
  await copyFiles(manifest, source, null)
  return manifest
}

/** @throws Error with a message for people. The directory is as before then */
export async function restoreBackup(source: string, stateDir: string): Promise<BackupManifest> {
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
