// In charge of: languages of ISO 639-2, as streams carry them, as tags of BCP 47, as manifests carry them.
// Not in charge of: where a language comes from.

const NONE = new Set(['und', 'mis', 'zxx'])
const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** RFC 5646, 2.2.1: the shortest code, of either variant of ISO 639-2 (`ger`, `deu` → `de`). null where nothing is said. */
export function languageTag(language: string | null): string | null {
  if (language === null || NONE.has(language) || !/^[a-z]{2,3}$/.test(language)) return null
  return Intl.getCanonicalLocales(language)[0] ?? null
}

/** For people, in English: `German`; the tag itself where it has no name. */
export function languageName(tag: string): string {
  return names.of(tag) ?? tag
}
