// In charge of: what the client has for other programs, as its package exports it.
export { Client, type Created, type IssuedKey, type Job, type Key, type Listed, type ListedUpload } from './client.ts'
export { download } from './download.ts'
export { NetworkError, ServiceError } from './errors.ts'
export { follow } from './follow.ts'
