// In charge of: which store checks its credentials with which function. A new store with credentials needs a line here.
// Not in charge of: addresses (registry.ts). They are separate so that the transcoder's code contains no key parsers.
import { checkAmazon } from './awsCredentials.ts'
import type { CheckCredentials } from './credentialReport.ts'
import { checkGoogle } from './gcloudCredentials.ts'
import { checkOracle } from './oracleCredentials.ts'
import type { Provider } from './registry.ts'

/** null = every credential is accepted, or none is read. */
export const credentialChecks: Readonly<Record<Provider, CheckCredentials | null>> = {
  aws: checkAmazon,
  oracle: checkOracle,
  gcloud: checkGoogle,
  http: null,
  'file-upload': null,
  'vendor-store': null,
}
