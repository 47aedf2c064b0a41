// In charge of: requests about accounts and the signing secret of webhooks. Not in charge of: keys (../api.ts).
import type {
  Account,
  AccountList,
  NewWebhookSecret,
  ReplacedKey,
  WebhookSecret,
} from '#contract/api/administration.ts'
import { request } from '../api/api.ts'

export const listAccounts = async (): Promise<Account[]> => (await request<AccountList>('/api/v0/accounts')).accounts

/** What is left out gets the default. */
export const saveQuotas = (account: string, quotas: unknown): Promise<Account> =>
  request(`/api/v0/accounts/${encodeURIComponent(account)}`, { method: 'PUT', body: quotas })

/** A new secret for the same key; the old one is refused from then on. */
export const rotateKey = (id: string): Promise<ReplacedKey> =>
  request(`/api/v0/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST' })

export const readSecret = (): Promise<WebhookSecret> => request('/api/v0/webhooks/secret')

/** The secret is in this answer and in no other. */
export const rotateSecret = (): Promise<NewWebhookSecret> =>
  request('/api/v0/webhooks/secret/rotate', { method: 'POST' })
