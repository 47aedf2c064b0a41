// In charge of: keeping a relative path inside the prefix that it is appended to.
import { MAX_LENGTH } from '#contract/limits.ts'
import { StoreError } from './objectStore.ts'

/**
 * Returns `prefix + path`.
 * @throws StoreError `invalid` for a path that is empty, absolute, contains dot segments, or that no store accepts.
 */
export function keyBelow(prefix: string, path: string, provider: string, operation: string): string {
  const elements = path.split('/')
  const key = prefix + path
  const wrong =
    elements.some((element) => element === '' || element === '.' || element === '..') ||
    // Control characters would appear in headers, manifests and tar entries.
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f\\]/.test(path) ||
    !path.isWellFormed() ||
    new TextEncoder().encode(key).byteLength > MAX_LENGTH.path_bytes
  if (wrong)
    throw new StoreError('invalid', provider, operation, 'The path of an object must be a plain relative path.')
  return key
}

/** Prefix of a job's objects in the service's own bucket. */
export function ownPrefix(account: string, jobId: string): string {
  return `${keyBelow('out/', `${account}/${jobId}`, 'vendor-store', 'open')}/`
}
