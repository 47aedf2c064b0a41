// In charge of: requests about accounts and the signing secret of webhooks. Not in charge of: keys (../api.ts).
import type { ReplacedKey } from '#contract/api/answers.ts'
import { request } from '../api/api.ts'

/** As GET /api/v0/accounts answers; null = no limit of its own. */
export interface Account {
  account: string
  max_active_jobs: number
  max_running: number | null
  max_stored_upload_bytes: number | null
  /** Its part of the transcoders where several accounts have jobs waiting. */
  weight: number
}

export const listAccounts = async (): Promise<Account[]> =>
  (await request<{ accounts: Account[] }>('/api/v0/accounts')).accounts

/** What is left out gets the default. */
export const saveQuotas = (account: string, quotas: unknown): Promise<Account> =>
  request(`/api/v0/accounts/${encodeURIComponent(account)}`, { method: 'PUT', body: quotas })

/** A new secret for the same key; the old one is refused from then on. */
export const rotateKey = (id: string): Promise<ReplacedKey> =>
  request(`/api/v0/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST' })

export interface SecretFacts {
  rotated_at: string | null
  previous_valid_until: string | null
}

export const readSecret = (): Promise<SecretFacts> => request('/api/v0/webhooks/secret')

/** The secret is in this answer and in no other. */
export const rotateSecret = (): Promise<SecretFacts & { secret: string }> =>
  request('/api/v0/webhooks/secret/rotate', { method: 'POST' })
