// In charge of: a backup of a service's data, of one moment, whether the service runs or not.
// Not in charge of: settings and secrets that the service was given in its environment (docs/self-hosting.md).
import { existsSync, readFileSync } from 'node:fs'
import { chmod, link, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { killOrphans, processMarker } from '../local/processes/orphans.ts'
import { isAlive } from '../local/processes/processGroup.ts'
import { openStateDirectory, type StateDirectory } from '../local/stateDirectory.ts'
import { acquireStateLock, isBusy, isLockTaken } from '../local/stateLock.ts'
import { copyHashed } from './copyFile.ts'
import { readManifest, writeManifest, type BackupFile } from './manifest.ts'
import { findRuntime, whilePaused } from '../local/processes/runtimePause.ts'
import { Snapshot, type StoredFile } from './snapshot.ts'

export interface BackupReport {
  files: number
  bytes: number
  /** For how long the service did not answer; null = it was not running. */
  pausedMs: number | null
}

/** The keys of what is encrypted in the databases. */
const SECRETS = 'secrets.json'
const PAUSE_LIMITS = { turnMs: 10_000, stopMs: 2_000 }
const MAX_PAUSES = 10
const BETWEEN_PAUSES_MS = 50
/** Each small file waits for the disk. */
const COPIES_AT_ONCE = 16

/**
 * @param since an earlier backup: the stored objects that it has too are linked, or copied from another disk
 * @throws Error with a message for people. What was written until then is removed
 */
export async function takeBackup(
  stateDir: string,
  target: string,
  since: string | null,
  report: (line: string) => void,
): Promise<BackupReport> {
  const earlier = new Map(
    since === null
      ? []
      : (await readManifest(since)).files.map((file) => [file.path, { ...file, from: join(since, file.path) }]),
  )
  if (!existsSync(join(stateDir, SECRETS)))
    throw new Error(`${stateDir} has no data of a service. Set STATE_DIR to the directory of your service.`)
  const state = await openStateDirectory(stateDir)
  await createTarget(target, state.path)
  try {
    return await withStaging(state, async (staging) => {
      const { files, migrations, pausedMs } = await takeSnapshot(state, staging, report)
      const copied: BackupFile[] = [
        { path: SECRETS, ...(await copyHashed(join(state.path, SECRETS), join(target, SECRETS))) },
      ]
      const copy = async ({ path, size }: StoredFile): Promise<BackupFile> => {
        const same = earlier.get(path)
        if (size !== null && same?.size === size && (await linked(same.from, join(target, path))))
          return { path, size, sha256: same.sha256 }
        const made = await copyHashed(join(staging, path), join(target, path))
        if (size !== null && size !== made.size)
          throw new Error(`The stored object ${path} has ${made.size} bytes instead of ${size}.`)
        return { path, ...made }
      }
      for (let first = 0; first < files.length; first += COPIES_AT_ONCE)
        copied.push(...(await Promise.all(files.slice(first, first + COPIES_AT_ONCE).map(copy))))
      await writeManifest(target, { migrations, files: copied })
      return { files: copied.length, bytes: copied.reduce((sum, { size }) => sum + size, 0), pausedMs }
    })
  } catch (error) {
    await rm(target, { recursive: true, force: true })
    throw error
  }
}

/** @returns false if the earlier backup is on another disk, or has lost the file */
async function linked(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  return link(from, to).then(
    () => true,
    () => false,
  )
}

async function takeSnapshot(state: StateDirectory, staging: string, report: (line: string) => void) {
  using snapshot = new Snapshot(state.path, staging)
  let pausedMs: number | null = null
  const lock = await acquireStateLock(state.path, state.runDir).catch((error: unknown) => {
    if (isLockTaken(error)) return null
    throw error
  })
  try {
    if (lock === null) {
      const runtime = findRuntime(state.runDir)
      snapshot.prepare()
      pausedMs = await inOnePause(state.runDir, runtime, () => snapshot.take())
    } else {
      await killOrphans([processMarker(state.runDir), `unix:${state.socket}`], report)
      snapshot.prepare()
      snapshot.take()
    }
    await snapshot.complete()
  } finally {
    lock?.release()
  }
  return { ...snapshot.check(), pausedMs }
}

/** Repeats a pause in which the runtime was stopped while it held a lock. */
async function inOnePause(runDir: string, runtime: number, take: () => void): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return whilePaused(runDir, runtime, PAUSE_LIMITS, take)
    } catch (error) {
      if (!isBusy(error) || tries === MAX_PAUSES) throw error
      await pause(tries * BETWEEN_PAUSES_MS)
    }
  }
}

async function createTarget(target: string, statePath: string): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 })
  const path = await realpath(target)
  if (!relative(statePath, path).startsWith('..'))
    throw new Error(`${target} is in the data directory ${statePath}. A backup belongs on another disk.`)
  if ((await readdir(path)).length > 0) throw new Error(`${target} is not empty. Each backup needs its own directory.`)
  // It contains keys.
  await chmod(path, 0o700)
}

/** A directory on the file system of the data; removed afterwards, and after a killed backup by the next one. */
async function withStaging<T>(state: StateDirectory, use: (directory: string) => Promise<T>): Promise<T> {
  const staging = join(state.runDir, 'backup')
  const holder = join(staging, 'pid')
  if (existsSync(holder)) {
    const pid = Number.parseInt(readFileSync(holder, 'utf8'), 10)
    if (isAlive(pid)) throw new Error(`Another backup of ${state.path} is running (process ${pid}).`)
  }
  await rm(staging, { recursive: true, force: true })
  await mkdir(staging, { mode: 0o700 })
  try {
    await writeFile(holder, `${process.pid}\n`)
    return await use(staging)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}
