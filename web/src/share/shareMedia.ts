// In charge of: loading what this page plays, by the page's own address.
// Not in charge of: playing it (sharedPlayer.tsx).
import type { SharedMedia } from '#contract/api/answers.ts'

/** `/s/<token>` or `/s/<token>/embed`. */
const page = location.pathname.replace(/\/embed$/, '')

export const isEmbedded = page !== location.pathname
/** The address to copy and send. */
export const pageAddress = location.origin + page

/** null: the share has ended. @throws Error with a message for viewers */
export async function readMedia(): Promise<SharedMedia | null> {
  const answer = await fetch(`${page}/data`).catch(() => null)
  if (answer?.status === 404) return null
  if (!answer?.ok) throw new Error('The video could not be loaded. Check your connection and try again.')
  return (await answer.json()) as SharedMedia
}

/** Whether its addresses have expired; a failure is then no error of the media. */
export function isStale({ addresses_expire_at: end }: SharedMedia): boolean {
  return Date.parse(end) <= Date.now()
}
