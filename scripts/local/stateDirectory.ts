// In charge of: the state directory of a local service: what lies where in it, and that other users get to none of it.
// Not in charge of: who may use it at one time (stateLock.ts), what is in the files.
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface StateDirectory {
  /** However it was spelled. */
  path: string
  /** Of the running service: lock, socket. */
  runDir: string
  /** Of the Worker's runtime (workerRuntime.ts). */
  socket: string
}

/** Address of a Unix socket: 108 bytes with the final zero on Linux, 104 elsewhere. */
const MAX_SOCKET_BYTES = 100

/** Not the directory itself: below it lies the work of the transcoders, whose programs run as users of their own. */
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
  // The same for the same directory: what a killed service left is found again, and replaced.
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  const far = join(tmpdir(), `splicepoint-${name}`)
  await createPrivateDirectory(far)
  return join(far, 'runtime')
}

/** @throws Error when it is somebody else's, who could have made it before us */
async function createPrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid()))
    throw new Error(`${path} must be a directory of the user who starts the service.`)
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700)
}
