// In charge of: the client for Node, which can upload local files by path.
// Not in charge of: everything else (serviceClient.ts).
import { ServiceClient } from './serviceClient.ts'
import type { UploadSource } from './upload/uploadSource.ts'
import type { Uploaded, UploadOptions } from './upload/uploadFile.ts'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'

async function openFileSource(path: string, name: string = basename(path)): Promise<UploadSource> {
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

export class Client extends ServiceClient {
  /**
   * Uploads a file. @returns the `input` for a job
   * @param file path of a file, or a Blob or File
   * @param name of the upload. Default: the last element of the path, or the File's own name
   */
  override async upload(file: string | Blob | UploadSource, name?: string, options?: UploadOptions): Promise<Uploaded> {
    return super.upload(typeof file === 'string' ? await openFileSource(file) : file, name, options)
  }
}
