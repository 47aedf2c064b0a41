// In charge of: the contract's rules for Oracle's Object Storage.
// Not in charge of: checking credentials (oracleCredentials.ts), reading and writing (worker/storage/oracle).
import { MAX_LENGTH } from '../../limits.ts'
import { keyProblem } from './objectKey.ts'
import { invalidAddress, wrongForm, type StoreRules } from './storeRules.ts'

export interface OracleAddress {
  kind: 'oci'
  namespace: string
  bucket: string
  key: string
}

const FORM = 'oci://<namespace>/<bucket>/<path>'

export const oracle: StoreRules<OracleAddress> = {
  labels: { input: 'Oracle Cloud', output: 'Oracle Cloud', settings: 'Oracle Object Storage' },
  schemes: ['oci'],
  root: { kind: 'bucket', elements: 2 },
  inputForm: FORM,
  outputForm: 'oci://<namespace>/<bucket>/<directory>',
  outputPathBytes: MAX_LENGTH.path_bytes,
  example: 'oci://namespace/bucket/film.mp4',
  members: ['region', 'access_key', 'secret_key', 'tenancy_ocid', 'user_ocid', 'oci_fingerprint', 'private_key'],
  parse(input) {
    const parts = /^oci:\/\/([^/]+)\/([^/]+)\/(.+)$/isu.exec(input)
    if (parts === null) return wrongForm('oracle', FORM)
    const namespace = parts[1]!
    const bucket = parts[2]!
    const key = parts[3]!
    if (!/^[a-z0-9-]{1,63}$/.test(namespace))
      return invalidAddress('the namespace is not valid: lower-case letters, digits and -')
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,255}$/.test(bucket)) return invalidAddress('the bucket name is not valid')
    return keyProblem(key) ?? { kind: 'oci', namespace, bucket, key }
  },
}
