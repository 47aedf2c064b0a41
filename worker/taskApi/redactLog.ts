// In charge of: removing secrets and addresses from an attempt's log. A second check after the transcoder's, which does
// not know the secrets.
// Not in charge of: which values of a job are secret (JobSecrets), the format of a log
// (contract/task/reportSchemas.ts).
import type { AttemptLog } from '#contract/task/reportSchemas.ts'

/** The source on the transcoder's loopback server, as ffmpeg commands show it. */
const SOURCE = 'http://loopback/***'
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"<>]*/gi
/** Shorter values would match ordinary words. */
const MIN_SECRET_LENGTH = 6

/** `secrets`: values to hide, each also in its URL-encoded form. */
export function redactLog(log: AttemptLog, secrets: readonly string[]): AttemptLog {
  const hidden = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    // Longest first, so that a secret that contains another is replaced as a whole.
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
