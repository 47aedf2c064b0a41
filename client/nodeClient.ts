// In charge of: the client in Node, which uploads files of this machine by their path.
// Not in charge of: everything else (serviceClient.ts).
import { ServiceClient } from './serviceClient.ts'
import { openFileSource } from './upload/fileSource.ts'
import type { UploadSource } from './upload/uploadSource.ts'
import type { Uploaded, UploadOptions } from './upload/uploadFile.ts'

export class Client extends ServiceClient {
  /**
   * The `input` of a job, for a file.
   * @param file path of a file, or what a browser has: a Blob or File
   * @param name what the file is called. Default: the last element of its path, or the File's own name
   */
  override async upload(file: string | Blob | UploadSource, name?: string, options?: UploadOptions): Promise<Uploaded> {
    return super.upload(typeof file === 'string' ? await openFileSource(file) : file, name, options)
  }
}
