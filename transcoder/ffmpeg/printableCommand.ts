// In charge of: formatting a command line so that a person can paste it, without secrets.
// Not in charge of: running it (run.ts never uses a shell).

/** Loopback addresses carry a token in their path. */
const LOOPBACK = /\bhttps?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?[^\s'"\]]*/g

export function redactAddresses(text: string): string {
  return text.replaceAll(LOOPBACK, 'http://loopback/***')
}

/** One line for a shell. Loopback addresses are replaced. */
export function printableCommand(path: string, args: readonly string[]): string {
  return [path, ...args].map((word) => shellQuote(redactAddresses(word))).join(' ')
}

function shellQuote(word: string): string {
  return /^[\w./:=+,%@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
