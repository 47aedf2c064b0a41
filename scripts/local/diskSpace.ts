// In charge of: whether the disk with the service's state is full.
import { statfs } from 'node:fs/promises'

/** Below this, the database and the next part of an upload do not fit any more. */
const LEAST_BYTES = 16 * 1024 * 1024

export async function isDiskFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize < LEAST_BYTES
}
