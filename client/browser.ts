// In charge of: what the client has for pages, as its package exports it (splicepoint/browser): the same without files of a machine.
export type * from './types.ts'
export { ServiceClient as Client } from './serviceClient.ts'
export { NetworkError, ServiceError } from './clientErrors.ts'
export { follow } from './followJob.ts'
