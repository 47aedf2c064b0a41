// In charge of: the contract's rules for Google Cloud Storage.
// Not in charge of: checking credentials (gcloudCredentials.ts), reading and writing (worker/storage/google).
import { MAX_LENGTH } from '../../limits.ts'
import { parseBucketAndKey } from './objectKey.ts'
import { wrongForm, type StoreRules } from './storeRules.ts'

export interface GoogleAddress {
  kind: 'gs'
  bucket: string
  key: string
}

const FORM = 'gs://<bucket>/<key>'
/** Google, "bucket naming guidelines". */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/

export const gcloud: StoreRules<GoogleAddress> = {
  labels: { input: 'Google Cloud', output: 'Google Cloud', settings: 'Google Cloud Storage' },
  schemes: ['gs'],
  root: { kind: 'bucket', elements: 1 },
  inputForm: FORM,
  outputForm: 'gs://<bucket>/<directory>',
  outputPathBytes: MAX_LENGTH.path_bytes,
  example: 'gs://bucket/film.mp4',
  // A key file from Google also says who owns the key.
  members: ['access_key', 'secret_key', 'client_email', 'private_key', 'private_key_id', 'project_id', 'client_id'],
  unusedReasons: { region: 'a Google Cloud bucket is found by its name' },
  parse(input) {
    const found = parseBucketAndKey('gs', input, BUCKET) ?? wrongForm('gcloud', FORM)
    return 'kind' in found ? found : { kind: 'gs', ...found }
  },
}
