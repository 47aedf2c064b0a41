// In charge of: sealing secrets again with the newest vault key, if an older key sealed them. Works in batches and continues
// where the last one stopped. Afterwards the older key may be removed from VAULT_KEYS.
// Not in charge of: encryption (secrets/vault.ts).
import type { VaultRotation } from '#contract/api/administration.ts'
import { openKeyWebhook, sealKeyWebhook } from '../webhooks/webhookAddress.ts'
import { listJobsSealedWithOtherKeys, replaceSealedJob } from '../db/jobRetention.ts'
import { decodeConfig } from '../db/jobs.ts'
import { listApiKeysSealedWithOtherKeys, replaceSealedApiKey } from '../db/apiKeys.ts'
import { boundAddresses, SECRETS_FIELD } from '../storage/jobStores.ts'
import { newestKeyId, unseal, seal } from '../secrets/vault.ts'

/**
 * Ids of the last job and the last API key processed. Secrets that cannot be opened stay as they are and are skipped.
 */
export interface ResealCursor {
  job: number
  key: string
}

export async function resealSecrets(env: Env, after: ResealCursor, limit: number): Promise<VaultRotation> {
  const keyId = await newestKeyId(env)
  const rows = await listJobsSealedWithOtherKeys(env.DB, keyId, after.job, limit)
  const unreadable: number[] = []
  const keys = await resealKeys(env, keyId, after.key, limit)
  let { resealed } = keys
  for (const row of rows) {
    let sealed: string
    try {
      const addresses = boundAddresses(decodeConfig(row.config))
      const secrets = await unseal(env, row.account, row.job_id, SECRETS_FIELD, row.sealed, addresses)
      sealed = await seal(env, row.account, row.job_id, SECRETS_FIELD, secrets, addresses)
    } catch {
      unreadable.push(row.id)
      continue
    }
    // Only if it is unchanged: the reconciler may have removed it meanwhile.
    await replaceSealedJob(env.DB, row, sealed)
    resealed++
  }
  const done = rows.length < limit && keys.done
  return {
    key_id: keyId,
    resealed,
    done,
    unreadable,
    unreadable_keys: keys.unreadable,
    next: rows.at(-1)?.id ?? after.job,
    next_key: keys.last ?? after.key,
  }
}

async function resealKeys(env: Env, keyId: string, after: string, limit: number) {
  const rows = await listApiKeysSealedWithOtherKeys(env.DB, keyId, after, limit)
  const unreadable: string[] = []
  for (const row of rows) {
    const hook = { keyId: row.id, redacted: row.webhook_url ?? '', sealed: row.webhook_sealed }
    const address = await openKeyWebhook(env, row.account, hook)
    if (address === null) {
      unreadable.push(row.id)
      continue
    }
    const kept = await sealKeyWebhook(env, row.account, row.id, address)
    await replaceSealedApiKey(env.DB, row, kept.webhook_sealed)
  }
  return {
    resealed: rows.length - unreadable.length,
    unreadable,
    done: rows.length < limit,
    last: rows.at(-1)?.id,
  }
}
