// In charge of: the contract's rules for Amazon S3 and for S3-compatible stores at an `endpoint`.
// Not in charge of: checking credentials (credentialChecks.ts), reading and writing (worker/storage/s3).
import { MAX_LENGTH } from '../../limits.ts'
import { parseBucketAndKey } from './objectKey.ts'
import { wrongForm, type StoreRules } from './storeRules.ts'

export interface S3Address {
  kind: 's3'
  bucket: string
  key: string
}

const FORM = 's3://<bucket>/<key>'
/** Amazon, "general purpose bucket naming rules". */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

export const aws: StoreRules<S3Address> = {
  labels: { input: 'Amazon S3', output: 'Amazon S3', settings: 'S3 bucket' },
  schemes: ['s3'],
  root: { kind: 'bucket', elements: 1 },
  inputForm: FORM,
  outputForm: 's3://<bucket>/<directory>',
  outputPathBytes: MAX_LENGTH.path_bytes,
  example: 's3://bucket/film.mp4',
  members: ['access_key', 'secret_key', 'region', 'session_token', 'endpoint'],
  parse(input) {
    const found = parseBucketAndKey('s3', input, BUCKET) ?? wrongForm('aws', FORM)
    return 'kind' in found ? found : { kind: 's3', ...found }
  },
}
