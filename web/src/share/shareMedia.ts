// In charge of: loading what this page plays, by the page's own address.
// Not in charge of: playing it (sharedPlayer.tsx).
import type { SharedMedia } from '#contract/api/answers.ts'

/** `/s/<token>` or `/s/<token>/embed`. */
const page = location.pathname.replace(/\/embed$/, '')

export const isEmbedded = page !== location.pathname
/** The address to copy and send. */
export const pageAddress = location.origin + page

/** The one that opened the page: the media's addresses are read again when they expire. */
let known: string | null = null

export type Opened = SharedMedia | 'gone' | 'locked'

/** @param password what the viewer typed @throws Error with a message for viewers */
export async function readMedia(password: string | null = known): Promise<Opened> {
  const sent =
    password === null
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password }) }
  const answer = await fetch(`${page}/data`, sent).catch(() => null)
  if (answer?.status === 404) return 'gone'
  if (answer?.status === 401) return 'locked'
  if (answer?.status === 429) throw new Error('Too many passwords were tried. Wait a minute, then try again.')
  if (!answer?.ok) throw new Error('The video could not be loaded. Check your connection and try again.')
  known = password
  return (await answer.json()) as SharedMedia
}

/** Whether its addresses have expired; a failure is then no error of the media. */
export function isStale({ addresses_expire_at: end }: SharedMedia): boolean {
  return Date.parse(end) <= Date.now()
}
