// In charge of: copying one file while its hash is computed. The copy is on disk when this returns.
// Not in charge of: which files.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface CopiedFile {
  size: number
  sha256: string
}

/** @param to null = only read and hashed */
export async function copyHashed(from: string, to: string | null): Promise<CopiedFile> {
  const hash = createHash('sha256')
  let size = 0
  async function* hashed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  if (to === null) {
    for await (const chunk of hashed(createReadStream(from))) void chunk
  } else {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await pipeline(createReadStream(from), hashed, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }))
  }
  return { size, sha256: hash.digest('hex') }
}
