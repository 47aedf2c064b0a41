// In charge of: the client's exports for browsers (@splicepoint/client/browser): the same as for Node, without local files.
export type * from './types.ts'
export { ServiceClient as Client } from './serviceClient.ts'
export { NetworkError, ServiceError } from './clientErrors.ts'
export { follow } from './followJob.ts'
