// In charge of: `vault rotate`: requests batches until all secrets are encrypted with the newest key of the vault.
// Not in charge of: the encryption (worker/admin/resealSecrets.ts), adding a key to VAULT_KEYS (docs/operating.md).
import type { VaultRotation } from '#contract/api/administration.ts'
import type { Client } from '../../client/nodeClient.ts'
import { UsageError } from '../cliErrors.ts'

/**
 * Safe to repeat and to interrupt: finished batches stay finished.
 * @returns the sum of all batches, for programs and for people
 */
export async function vaultCommand(
  client: Client,
  words: string[],
  note: (text: string) => void,
): Promise<{ document: Omit<VaultRotation, 'next' | 'next_key'>; text: string }> {
  if (words[0] !== 'rotate') throw new UsageError('Write: vault rotate')
  const unreadable = new Set<number>()
  const keys = new Set<string>()
  let resealed = 0
  for (let place = { next: 0, next_key: '' }; ;) {
    const batch = await client.resealVault(place)
    resealed += batch.resealed
    for (const job of batch.unreadable) unreadable.add(job)
    for (const key of batch.unreadable_keys) keys.add(key)
    if (!batch.done) note(`${resealed} encrypted again with ${batch.key_id}, up to job ${batch.next}`)
    place = batch
    if (!batch.done) continue
    const lost = [...[...unreadable].map((id) => `job ${id}`), ...[...keys].map((id) => `key ${id}`)]
    const answer = { ...batch, resealed, unreadable: [...unreadable], unreadable_keys: [...keys] }
    const { next: _next, next_key: _key, ...sum } = answer
    return {
      document: sum,
      text: [
        `Everything is encrypted with ${batch.key_id} (${resealed} encrypted again). The other keys can be removed from VAULT_KEYS.`,
        ...(lost.length === 0 ? [] : [`Lost, because their key is no longer in VAULT_KEYS: ${lost.join(', ')}`]),
      ].join('\n'),
    }
  }
}
