// In charge of: a local file as the source of an upload. Node only.
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { UploadSource } from './uploadSource.ts'

export async function openFileSource(path: string, name: string = basename(path)): Promise<UploadSource> {
  const { size, mtimeMs } = await stat(path)
  return {
    name,
    size,
    type: '',
    modified: mtimeMs,
    body: (start, end) =>
      start === end
        ? new Blob([])
        : (Readable.toWeb(createReadStream(path, { start, end: end - 1 })) as ReadableStream<Uint8Array>),
    bytes: async (start, end) => {
      const bytes = new Uint8Array(end - start)
      await using file = await open(path)
      let at = 0
      while (at < bytes.length) {
        const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at)
        if (bytesRead === 0) throw new Error(`${path} was truncated while it was being read.`)
        at += bytesRead
      }
      return bytes
    },
  }
}
