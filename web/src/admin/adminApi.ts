// In charge of: admin requests: keys, accounts and the signing secret of webhooks.
// Not in charge of: sending requests (../api/api.ts).
import type {
  Account,
  AccountList,
  NewWebhookSecret,
  ReplacedKey,
  WebhookSecret,
} from '#contract/api/administration.ts'
import { request } from '../api/api.ts'

export const listAccounts = async (): Promise<Account[]> => (await request<AccountList>('/api/v0/accounts')).accounts

/** Fields that are left out get their defaults. */
export const saveQuotas = (account: string, quotas: unknown): Promise<Account> =>
  request(`/api/v0/accounts/${encodeURIComponent(account)}`, { method: 'PUT', body: quotas })

export const saveSpendCap = (
  account: string,
  cap: { spend_cap: unknown; spend_webhook_url: unknown },
): Promise<Account> =>
  request(`/api/v0/accounts/${encodeURIComponent(account)}/spend-cap`, { method: 'PUT', body: cap })

/** Replaces the secret of a key; the old one is rejected from then on. */
export const rotateKey = (id: string): Promise<ReplacedKey> =>
  request(`/api/v0/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST' })

export const readSecret = (): Promise<WebhookSecret> => request('/api/v0/webhooks/secret')

/** The secret is in this answer only. */
export const rotateSecret = (): Promise<NewWebhookSecret> =>
  request('/api/v0/webhooks/secret/rotate', { method: 'POST' })
