// In charge of: `metadata` of a job: names and values of the client, which the service stores and returns.
// Not in charge of: searching jobs by them (worker/db/searchText.ts, worker/db/jobList.ts).
import { METADATA } from '../limits.ts'
import type { Findings } from './findings.ts'
import { isJsonObject, printableName } from './fieldReader.ts'
import { printableValue } from './redact.ts'

export type Metadata = Record<string, string>

const NAME = new RegExp(`^${METADATA.name_pattern}$`)
const NAME_EXPECTS = `1 to 40 letters, digits, dots, hyphens and underscores, other than "__proto__"`
/**
 * All characters except control characters and unpaired surrogates, which terminals, headers and log lines cannot show.
 */
const VALUE = new RegExp(`^${METADATA.value_pattern}$`, 'u')

/** Counts code points, like JSON Schema. */
export const countCharacters = (text: string): number => Array.from(text).length

/** A name that is a safe key in every programming language. */
export function isMetadataName(name: string): boolean {
  return NAME.test(name) && name !== '__proto__'
}

export function isMetadataValue(value: string): boolean {
  return VALUE.test(value)
}

/** @returns undefined if there is no metadata, or if it is invalid */
export function readMetadata(value: unknown, findings: Findings): Metadata | undefined {
  if (value === undefined || value === null) return undefined
  const { members, value_characters: length } = METADATA
  if (!isJsonObject(value)) {
    const message = `metadata must be an object of at most ${members} strings; ${printableValue(value)} was given`
    findings.problem('invalid_type', 'metadata', message)
    return undefined
  }
  const entries = Object.entries(value)
  if (entries.length > members) {
    const message = `metadata must have at most ${members} members; ${entries.length} were given`
    findings.problem('invalid_length', 'metadata', message, { maximum: members })
    return undefined
  }
  for (const [name, text] of entries) {
    const path = `metadata.${printableName(name)}`
    if (!isMetadataName(name)) findings.problem('invalid_value', path, `a name in metadata must be ${NAME_EXPECTS}`)
    else if (typeof text !== 'string')
      findings.problem('invalid_type', path, `${path} must be a string; ${printableValue(text)} was given`)
    else if (countCharacters(text) > length) {
      const message = `${path} must have at most ${length} characters; ${countCharacters(text)} were given`
      findings.problem('invalid_length', path, message, { maximum: length })
    } else if (!isMetadataValue(text))
      findings.problem('invalid_value', path, `${path} must not contain control characters or unpaired surrogates`)
  }
  // Every name was checked, and fromEntries defines own members, so no name can reach a prototype.
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]))
}
