// In charge of: keeping secrets and addresses out of an attempt's log, once more behind the transcoder, which knows none of them.
// Not in charge of: what is secret of a job (JobSecrets), the form of a log (reportSchemas.ts).
import type { AttemptLog } from '#contract/task/reportSchemas.ts'

/** The source's address on the transcoder's own loopback, as its commands show it. */
const SOURCE = 'http://loopback/***'
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"<>]*/gi
/** Shorter ones are words that every text has. */
const MIN_SECRET_LENGTH = 6

/** `secrets`: values that must not show, each as it was given and as it stands in an address. */
export function redactLog(log: AttemptLog, secrets: readonly string[]): AttemptLog {
  const hidden = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // A secret that contains another goes first.
    .toSorted((a, b) => b.length - a.length)
  const clean = (text: string): string => {
    let rest = text.replaceAll(ADDRESS, (address) => (address === SOURCE ? address : '[address]'))
    for (const secret of hidden) rest = rest.replaceAll(secret, '***')
    return rest
  }
  return {
    engine: log.engine === null ? null : clean(log.engine),
    commands: log.commands.map((each) => ({ ...each, purpose: clean(each.purpose), command: clean(each.command) })),
    lines: log.lines.map((each) => ({ ...each, message: clean(each.message) })),
  }
}
