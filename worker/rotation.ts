// In charge of: sealing again, with the newest key of the ring, what an older one sealed: a batch at a time, from wherever
// the last one stopped. Afterwards the older key may leave VAULT_KEYS.
// Not in charge of: the envelope (vault.ts).
import { listSealedWithOthers, replaceSealed } from './ledger/jobs.ts'
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
  /** To be given to the next call. */
  next: number
}

export async function reseal(env: Env, after: number, limit: number): Promise<Rotation> {
  const keyId = await currentKeyId(env)
  const rows = await listSealedWithOthers(env.DB, keyId, after, limit)
  const unreadable: number[] = []
  let resealed = 0
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
  return { key_id: keyId, resealed, done: rows.length < limit, unreadable, next: rows.at(-1)?.id ?? after }
}
