// In charge of: what the client has for pages, as its package exports it (splicepoint/browser): the same without files of a machine.
export type * from './types.ts'
export { ServiceClient as Client } from './core.ts'
export { NetworkError, ServiceError } from './errors.ts'
export { follow } from './follow.ts'
