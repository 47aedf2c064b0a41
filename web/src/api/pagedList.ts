// In charge of: merging pages of a list, newest first: when its first page is read again, and when a further page
// arrives. Pure.

export interface Paged<T> {
  items: readonly T[]
  /** Start of the next page; null = there is none. */
  next: string | null
}

/** The new first page, followed by the older items that were loaded before. */
export function refreshed<T>(before: Paged<T> | null, page: Paged<T>, numberOf: (item: T) => number): Paged<T> {
  const [newest] = before?.items ?? []
  const last = page.items.at(-1)
  // If the new page does not overlap the old list, the items between them are missing, so the old list is dropped.
  if (!before || !newest || !last || page.next === null || numberOf(last) > numberOf(newest)) return page
  const older = before.items.filter((item) => numberOf(item) < numberOf(last))
  return older.length > 0 ? { items: [...page.items, ...older], next: before.next } : page
}

/**
 * @param asked where the list ended when the page was requested; if it ends elsewhere now, the page does not follow it
 */
export function appended<T>(before: Paged<T>, asked: string, page: Paged<T>): Paged<T> {
  return before.next === asked ? { items: [...before.items, ...page.items], next: page.next } : before
}
