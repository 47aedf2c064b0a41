// In charge of: converting ISO 639-2 languages of streams to BCP 47 tags of manifests; tags of caption files stay as they are.
// Not in charge of: reading the language of a stream.

import { canonicalLanguage } from '#contract/captions.ts'

const NONE = new Set(['und', 'mis', 'zxx'])
const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/**
 * RFC 5646, 2.2.1: the shortest code, from either variant of ISO 639-2 (`ger`, `deu` → `de`). null where the language
 * is unknown.
 */
export function languageTag(language: string | null): string | null {
  if (language === null || NONE.has(language) || !/^[a-z]{2,3}(-|$)/.test(language)) return null
  return canonicalLanguage(language)
}

/** The English name, such as `German`, for viewers. The tag itself where it has no name. */
export function languageName(tag: string): string {
  return names.of(tag) ?? tag
}
