// In charge of: the layout of a local service's state directory, and denying other users access to it.
// Not in charge of: locking it (stateLock.ts), the content of the files.
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface StateDirectory {
  /** The canonical path. */
  path: string
  /** For the running service: lock, socket. */
  runDir: string
  /** The socket of the Worker's runtime (workerRuntime.ts). */
  socket: string
}

/** Longest path of a Unix socket: 108 bytes with the final zero on Linux, 104 elsewhere. */
const MAX_SOCKET_BYTES = 100

/** The directory itself is not private: it contains the transcoders' work, whose programs run as other users. */
const PRIVATE_DIRECTORIES = ['run', 'logs', 'v3']

export async function openStateDirectory(wanted: string): Promise<StateDirectory> {
  await mkdir(wanted, { recursive: true })
  const path = await realpath(wanted)
  for (const name of PRIVATE_DIRECTORIES) await createPrivateDirectory(join(path, name))
  const runDir = join(path, 'run')
  return { path, runDir, socket: await shortSocketPath(path, runDir) }
}

async function shortSocketPath(path: string, runDir: string): Promise<string> {
  const near = join(runDir, 'runtime')
  if (Buffer.byteLength(near) <= MAX_SOCKET_BYTES) return near
  // The name depends only on the directory, so files of a killed service are found again and replaced.
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  const far = join(tmpdir(), `splicepoint-${name}`)
  await createPrivateDirectory(far)
  return join(far, 'runtime')
}

/** @throws Error if the directory belongs to another user, who may have created it before */
async function createPrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid()))
    throw new Error(`${path} must be a directory of the user who starts the service.`)
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700)
}
