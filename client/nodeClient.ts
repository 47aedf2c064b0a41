// In charge of: the client for Node, which can upload local files by path.
// Not in charge of: everything else (serviceClient.ts).
import { ServiceClient } from './serviceClient.ts'
import { openFileSource } from './upload/fileSource.ts'
import type { UploadSource } from './upload/uploadSource.ts'
import type { Uploaded, UploadOptions } from './upload/uploadFile.ts'

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
