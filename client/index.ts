// In charge of: what the client has for other programs, as its package exports it.
export type { Created, IssuedKey, JobList, JobRead, Key, ListedUpload } from '#contract/answers.ts'
export { Client } from './client.ts'
export { download } from './download.ts'
export { NetworkError, ServiceError } from './errors.ts'
export { follow } from './follow.ts'
