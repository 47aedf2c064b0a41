// In charge of: sealing again, with the newest key of the ring, what an older one sealed: a batch at a time, from wherever
// the last one stopped. Afterwards the older key may leave VAULT_KEYS.
// Not in charge of: the envelope (vault.ts).
import { hookOf, keepHook } from './hook.ts'
import { listSealedWithOthers, replaceSealed } from './ledger/jobs.ts'
import { listKeysSealedWithOthers, replaceKeySealed } from './ledger/keys.ts'
import { SECRETS_FIELD } from './sink.ts'
import { currentKeyId, open, seal } from './vault.ts'

interface Rotation {
  /** Id of the key that seals now. */
  key_id: string
  resealed: number
  /** Whether nothing is left that another key sealed. */
  done: boolean
  /** Jobs whose key is in the ring no more: their credentials are lost already. */
  unreadable: number[]
  /** API keys whose webhook_url is lost in the same way. */
  unreadable_keys: string[]
  /** To be given to the next call. */
  next: number
}

export async function reseal(env: Env, after: number, limit: number): Promise<Rotation> {
  const keyId = await currentKeyId(env)
  const rows = await listSealedWithOthers(env.DB, keyId, after, limit)
  const unreadable: number[] = []
  const keys = await resealKeys(env, keyId, limit)
  let { resealed } = keys
  for (const row of rows) {
    let secrets: unknown
    try {
      secrets = await open(env, row.account, row.job_id, SECRETS_FIELD, row.sealed)
    } catch {
      unreadable.push(row.id)
      continue
    }
    // Only where it is still the same: the sweep may have removed it meanwhile.
    await replaceSealed(env.DB, row, await seal(env, row.account, row.job_id, SECRETS_FIELD, secrets))
    resealed++
  }
  const done = rows.length < limit && keys.done
  return {
    key_id: keyId,
    resealed,
    done,
    unreadable,
    unreadable_keys: keys.unreadable,
    next: rows.at(-1)?.id ?? after,
  }
}

/** Few: they need no place to go on from, since what was sealed again is not found any more. */
async function resealKeys(env: Env, keyId: string, limit: number) {
  const rows = await listKeysSealedWithOthers(env.DB, keyId, limit)
  const unreadable: string[] = []
  for (const row of rows) {
    const hook = { keyId: row.id, shown: row.webhook_url ?? '', sealed: row.webhook_sealed }
    try {
      const kept = await keepHook(env, row.account, row.id, await hookOf(env, row.account, hook))
      await replaceKeySealed(env.DB, row, kept.webhook_sealed ?? '')
    } catch {
      unreadable.push(row.id)
    }
  }
  return {
    resealed: rows.length - unreadable.length,
    unreadable,
    done: rows.length < limit || unreadable.length === limit,
  }
}
