// In charge of: what the client has for programs in Node, as its package exports it.
export type * from './types.ts'
export { Client } from './client.ts'
export { download, type Downloaded, type RemoteFile } from './download.ts'
export { NetworkError, ServiceError } from './errors.ts'
export { follow } from './follow.ts'
export { downloadAll, type DownloadedFile, type DownloadOptions, type DownloadProgress } from './tree.ts'
