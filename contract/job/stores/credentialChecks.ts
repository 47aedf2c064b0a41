// In charge of: which store checks its credentials with which function. A new store with credentials needs a line here.
// Not in charge of: addresses (registry.ts). They are separate so that the transcoder's code contains no key parsers.
import { type CheckCredentials, checkRegion } from './credentialReport.ts'
import { checkGoogle } from './gcloudCredentials.ts'
import { checkOracle } from './oracleCredentials.ts'
import type { Provider } from './registry.ts'
import { parseHttp } from './http.ts'

const checkAmazon: CheckCredentials = (known, report) => {
  for (const name of ['access_key', 'session_token'] as const) {
    // They are sent in a header.
    if (!known[name] || /^[\x21-\x7e]+$/.test(known[name])) continue
    report.member('invalid_value', name, ' contains characters that such a key cannot have')
  }
  const wrong = endpointProblem(known.endpoint ?? '')
  if (wrong !== null) report.member('invalid_value', 'endpoint', wrong)
  for (const name of ['access_key', 'secret_key'] as const)
    if (!known[name]) report.problem('required', name, 'aws needs access_key and secret_key')
  checkRegion(known, report)
}

function endpointProblem(endpoint: string): string | null {
  if (endpoint === '') return null
  if (parseHttp(endpoint).kind !== 'http' || /[?#]/.test(endpoint)) {
    return ' must be an address like "https://s3.example.com", without a bucket, a user name or a query'
  }
  // A path is usually a bucket name. If it were accepted, every object would be looked for in the wrong place.
  if (/^https?:\/\/[^/\\]+\/*$/i.test(endpoint)) return null
  return ' must not have a path: it is only the address of the store, like "https://s3.example.com"; buckets are named in input and in the paths of outputs'
}

/** null = every credential is accepted, or none is read. */
export const credentialChecks: Readonly<Record<Provider, CheckCredentials | null>> = {
  aws: checkAmazon,
  oracle: checkOracle,
  gcloud: checkGoogle,
  http: null,
  'file-upload': null,
  'vendor-store': null,
}
