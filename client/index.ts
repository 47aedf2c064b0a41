// In charge of: the client's exports for Node.
export type * from './types.ts'
export { Client } from './nodeClient.ts'
export { download, type Downloaded, type RemoteFile } from './download/downloadFile.ts'
export { NetworkError, ServiceError } from './clientErrors.ts'
export { follow } from './followJob.ts'
export {
  downloadAll,
  type DownloadedFile,
  type DownloadOptions,
  type DownloadProgress,
} from './download/downloadAll.ts'
