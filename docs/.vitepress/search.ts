// In charge of: how the site's search ranks sections. The browser gets the functions as text: they use nothing from outside.
import type { DefaultTheme } from 'vitepress'

/** A question's idle words say nothing about its answer; a plural is its singular. */
function processTerm(term: string): string | null {
  const idle =
    ' a an and are as at be but by can did do does for from get has have how i if in into is it its me much my of on or our so that the their there this to was we what when where which who why will with you your '
  const word = term.toLowerCase().replace(/(?<=...[^s])s$/, '')
  return idle.includes(` ${word} `) ? null : word
}

/**
 * A page that is about the question comes before a section that mentions it, before the members of an operation, and before
 * pages for contributors.
 */
function boostDocument(id: string, _term: string, stored?: Record<string, unknown>): number {
  if (id.includes('/reference/')) return 0.5
  if (/\/(?:internals\/|changelog|contents|contributing)/.test(id)) return 0.2
  return (stored?.['titles'] as unknown[] | undefined)?.length === 0 ? 1.7 : 1
}

export const search = {
  miniSearch: {
    options: { processTerm },
    searchOptions: {
      boost: { title: 4, titles: 2, text: 1 },
      prefix: (term: string) => term.length > 2,
      fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
      boostDocument,
    },
  },
} satisfies DefaultTheme.LocalSearchOptions
