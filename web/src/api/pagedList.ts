// In charge of: a list that comes in pages, newest first: what becomes of it when its first page is read again, and when a
// further page arrives. Pure.

export interface Paged<T> {
  items: readonly T[]
  /** Where the next page begins; null = there is none. */
  next: string | null
}

/** The first page as it is now, and behind it what was loaded of older ones. */
export function refreshed<T>(before: Paged<T> | null, page: Paged<T>, numberOf: (item: T) => number): Paged<T> {
  const [newest] = before?.items ?? []
  const last = page.items.at(-1)
  // Where so much is new that the two do not meet, what lies between them would be missed.
  if (!before || !newest || !last || page.next === null || numberOf(last) > numberOf(newest)) return page
  const older = before.items.filter((item) => numberOf(item) < numberOf(last))
  return older.length > 0 ? { items: [...page.items, ...older], next: before.next } : page
}

/** @param asked where the list ended when the page was asked for; if it ends elsewhere now, the page is not its next one */
export function appended<T>(before: Paged<T>, asked: string, page: Paged<T>): Paged<T> {
  return before.next === asked ? { items: [...before.items, ...page.items], next: page.next } : before
}
