// In charge of: which store checks its credentials how. A new store with credentials has a line here.
// Not in charge of: their addresses (registry.ts), which is apart so that the transcoder reads no keys.
import { checkAmazon } from './awsCredentials.ts'
import type { CheckCredentials } from './credentialReport.ts'
import { checkGoogle } from './gcloudCredentials.ts'
import { checkOracle } from './oracleCredentials.ts'
import type { Provider } from './registry.ts'

/** null = whatever is given is right, or nothing is read. */
export const credentialChecks: Readonly<Record<Provider, CheckCredentials | null>> = {
  aws: checkAmazon,
  oracle: checkOracle,
  gcloud: checkGoogle,
  http: null,
  'file-upload': null,
  'vendor-store': null,
}
