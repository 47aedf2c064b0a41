// In charge of: settings and secrets that are valid but probably not intended. Reports ids of keys, never keys.
// Not in charge of: invalid settings (env.ts): with one of those, requests are refused before they get here.
import type { Check } from '#contract/api/diagnosis.ts'
import type { Settings } from '../env.ts'
import { unseal, keyIds, seal } from '../secrets/vault.ts'
import { fault, ok, warning, type CheckOutcome } from '#contract/api/checkOutcome.ts'
import { runCheck } from './runCheck.ts'

const SECRET_CHARACTERS = 32
/** The length of `openssl rand -base64 24`. */
const ADMIN_CHARACTERS = 32

export function checkSecrets(env: Env): Promise<Check> {
  const put = 'Create one (openssl rand -base64 32) and set it: npm run cloudflare -- secret put'
  return runCheck('secrets', put, () => {
    if (env.SERVICE_SECRET.length < SECRET_CHARACTERS) {
      return fault(`SERVICE_SECRET has fewer than ${SECRET_CHARACTERS} characters.`, `${put} SERVICE_SECRET.`)
    }
    if (env.ADMIN_KEY.length < ADMIN_CHARACTERS) {
      return warning(`ADMIN_KEY has fewer than ${ADMIN_CHARACTERS} characters.`, `${put} ADMIN_KEY.`)
    }
    if (env.ADMIN_KEY === env.SERVICE_SECRET) {
      return fault('ADMIN_KEY and SERVICE_SECRET are the same.', `${put} ADMIN_KEY.`)
    }
    return ok('SERVICE_SECRET and ADMIN_KEY are set and long enough.')
  })
}

/** Seals and opens a value. */
export function checkVault(env: Env): Promise<Check> {
  const remedy =
    'VAULT_KEYS must be id:<base64 of 32 bytes>, comma-separated: echo "k1:$(openssl rand -base64 32)" makes one; npm run cloudflare -- secret put VAULT_KEYS.'
  return runCheck('vault', remedy, async () => {
    const ids = await keyIds(env)
    const value = crypto.randomUUID()
    const sealed = await seal(env, 'admin', 'diagnosis', 'probe', value)
    if ((await unseal<string>(env, 'admin', 'diagnosis', 'probe', sealed)) !== value) {
      return fault('Encrypted data could not be decrypted again.', remedy)
    }
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index)
    if (twice.length > 0) return fault(`VAULT_KEYS has two keys with the id ${twice[0]}.`, remedy)
    return ok(
      `Encrypted and decrypted with ${ids[0]}${ids.length > 1 ? `; ${ids.slice(1).join(', ')} can still decrypt` : ''}.`,
    )
  })
}

export function checkEgress(env: Env, { egress, transcoders, allowPrivateHosts }: Settings): Promise<Check> {
  const hosts = [...allowPrivateHosts].join(', ')
  return runCheck('egress', '', (): CheckOutcome => {
    if (egress === 'pinned' && !env.INTERNAL_TOKEN) {
      return fault(
        'EGRESS is "pinned", which only npm start enforces: in this deployment, nothing prevents jobs from reaching private addresses.',
        'Set EGRESS = "platform" in wrangler.toml and deploy.',
      )
    }
    if (egress === 'listed' && transcoders === 'containers') {
      return warning(
        `EGRESS is "listed": jobs reach ${hosts === '' ? 'no host' : `only ${hosts}`}.`,
        'On Cloudflare set EGRESS = "platform", unless that is what you want.',
      )
    }
    if (egress === 'platform' && hosts !== '') {
      return warning(
        `ALLOW_PRIVATE_HOSTS permits jobs to reach ${hosts}.`,
        'Leave ALLOW_PRIVATE_HOSTS empty in production.',
      )
    }
    return ok(`Private addresses are refused (${egress})${hosts === '' ? '' : `, except ${hosts}`}.`)
  })
}

/** @param origin of the request, as the client called it */
export function checkSettings(env: Env, settings: Settings, origin: string): Promise<Check> {
  return runCheck('settings', '', (): CheckOutcome => {
    const { baseUrl, transcoders } = settings
    if (baseUrl !== null && new URL(baseUrl).origin !== origin) {
      return warning(
        `BASE_URL is ${baseUrl}, but this request came to ${origin}; download links use BASE_URL.`,
        'This is correct behind a proxy or with a second domain. Otherwise correct BASE_URL, or leave it empty.',
      )
    }
    if (env.API_KEY && transcoders === 'containers') {
      return warning(
        'API_KEY is set: this key is not in the list of keys, has no quotas and cannot be revoked.',
        'Leave API_KEY empty in production and issue keys (docs/operating.md, "Deploy from zero").',
      )
    }
    return ok(
      `${transcoders === 'registered' ? 'Registered transcoders' : `${settings.maxSlots} slots`}, a lease of ${settings.leaseMs / 1000} s.`,
    )
  })
}
