// In charge of: addresses that consist of a bucket and an object key: `s3://bucket/key`.
// Not in charge of: bucket naming rules (each store's own file).
import { isCleanText, schemeOf, utf8ByteLength } from '../paths/inputAddress.ts'
import { MAX_LENGTH } from '../../limits.ts'
import { invalidAddress, type InvalidAddress } from './storeRules.ts'

/** @returns what is wrong with an object key; null = nothing */
export function keyProblem(key: string, maximum: number = MAX_LENGTH.path_bytes): InvalidAddress | null {
  if (!isCleanText(key)) return invalidAddress('the object key must not contain control characters')
  if (utf8ByteLength(key) > maximum) return invalidAddress(`the object key is longer than ${maximum} bytes`)
  // URL parsers resolve these elements, so the request would reach another object.
  if (key.split('/').some((element) => element === '.' || element === '..')) {
    return invalidAddress('the object key must not contain . or .. as an element')
  }
  return null
}

/**
 * @param name pattern of valid bucket names
 * @returns null for an address of another form
 */
export function parseBucketAndKey(
  scheme: string,
  input: string,
  name: RegExp,
): { bucket: string; key: string } | InvalidAddress | null {
  const parts = /^[a-z0-9]+:\/\/([^/]+)\/(.+)$/isu.exec(input)
  if (parts === null || schemeOf(input) !== scheme) return null
  const bucket = parts[1]!
  const key = parts[2]!
  // Decision "Stores": a bucket becomes part of a host name, so it is validated before use.
  if (!name.test(bucket) || bucket.includes('..')) return invalidAddress('the bucket name is not valid')
  return keyProblem(key) ?? { bucket, key }
}
