// In charge of: the names of the webhook schedulers: a job's is its UUID, an account's has a prefix.
// Not in charge of: what they do (webhooks/webhookScheduler.ts).
const PREFIX = 'account:'

/** The name of the webhook scheduler of an account. */
export function noticesOf(account: string): string {
  return `${PREFIX}${account}`
}

/** null = the name of a job's. */
export function accountOfNotices(name: string): string | null {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null
}
