// In charge of: reading what this page plays: the page's own address is all that it needs.
// Not in charge of: playing it (sharedPlayer.tsx).
import type { SharedMedia } from '#contract/api/answers.ts'

/** `/s/<token>` or `/s/<token>/embed`. */
const page = location.pathname.replace(/\/embed$/, '')

export const isEmbedded = page !== location.pathname
/** To be copied and sent. */
export const pageAddress = location.origin + page

/** null: the share has ended meanwhile. @throws Error with a sentence for people */
export async function readMedia(): Promise<SharedMedia | null> {
  const answer = await fetch(`${page}/data`).catch(() => null)
  if (answer?.status === 404) return null
  if (!answer?.ok) throw new Error('The video could not be loaded. Check your connection and try again.')
  return (await answer.json()) as SharedMedia
}

/** Whether its addresses have ended: what fails then is no fault of the media. */
export function isStale({ addresses_expire_at: end }: SharedMedia): boolean {
  return Date.parse(end) <= Date.now()
}
