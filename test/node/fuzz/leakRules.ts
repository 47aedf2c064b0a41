// In charge of: what no answer may contain: the service's directories, stack traces, secrets, and a host name that a
// client invented.
import { homedir } from 'node:os'
import { ROOT } from '../../support/service.ts'
import { MADE_UP_HOST } from './generators/headers.ts'

const FORMS: [what: string, pattern: RegExp][] = [
  // Also escaped as in JSON.
  ['a stack trace', /(?:\n|\\n)\s+at (?:async )?[\w.<>[\] ]+ ?\(?(?:file:|node:|\/|[A-Za-z]:\\|[\w./-]+:\d+:\d+)/],
  ['a place in the code', /[\w/-]+\.[cm]?[jt]s:\d+(?::\d+)?/],
  ['a module of the machine', /node_modules|node:internal|file:\/\/\/|workerd\/|miniflare/i],
  ['a statement of the database', /SQLITE_|D1_ERROR|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b [\w*]+/],
  ['an error of the runtime', /(?:Type|Range|Reference|Syntax)Error\b|is not a function|Cannot read propert/],
  ["a host of the client's making", new RegExp(MADE_UP_HOST.replaceAll('.', String.raw`\.`), 'i')],
]

/** Names of what was found. @param secrets texts that must not appear; @param localPaths directories of the service */
export function findLeaks(raw: Buffer, secrets: readonly string[], localPaths: readonly string[]): string[] {
  const text = raw.toString('utf8')
  return [
    ...FORMS.filter(([, pattern]) => pattern.test(text)).map(([what]) => what),
    ...(secrets.some((secret) => text.includes(secret)) ? ['a secret'] : []),
    ...([ROOT, homedir(), ...localPaths].some((place) => place.length > 4 && text.includes(place))
      ? ['a path of the machine']
      : []),
  ]
}
