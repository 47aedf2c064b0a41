// In charge of: canary values that must never appear again, and finding them in any encoding.
// Not in charge of: where to search (serviceTraces.ts), which jobs carry them.
import { randomBytes } from 'node:crypto'

export interface FoundSecret {
  canary: string
  form: string
}

/** A value that occurs in no file by chance; only letters and digits, so that every header and address can carry it. */
export function canary(name: string): string {
  return `${name}${randomBytes(15).toString('hex').toUpperCase()}`
}

/** The encodings in which a value may appear: logs quote, SQLite stores, headers encode. */
function formsOf(value: string): Map<string, string> {
  const bytes = Buffer.from(value)
  const forms = new Map([
    ['raw', value],
    ['escaped', JSON.stringify(value).slice(1, -1)],
    ['url', encodeURIComponent(value)],
    ['hex', bytes.toString('hex')],
    ['HEX', bytes.toString('hex').toUpperCase()],
  ])
  // The base64 of the middle of a longer text depends on its offset; the characters at the edges are shared with
  // neighbours.
  for (const shift of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes])
    const first = Math.ceil((shift * 8) / 6)
    const last = Math.floor((whole.length * 8) / 6)
    forms.set(`base64+${shift}`, whole.toString('base64').slice(first, last))
    forms.set(`base64url+${shift}`, whole.toString('base64url').slice(first, last))
  }
  return forms
}

/** An attempt token (worker/secrets/attemptToken.ts). */
const ATTEMPT_TOKEN = /\b[1-9]\d{0,8}\.\d{13}\.[A-Za-z0-9_-]{43}/

export class Canaries {
  readonly #needles: { canary: string; form: string; needle: Buffer }[] = []

  add(name: string, value: string): string {
    for (const [form, text] of formsOf(value)) {
      this.#needles.push({ canary: name, form, needle: Buffer.from(text) })
    }
    return value
  }

  findIn(bytes: Uint8Array): FoundSecret[] {
    const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const found: FoundSecret[] = this.#needles
      .filter(({ needle }) => haystack.includes(needle))
      .map(({ canary: name, form }) => ({ canary: name, form }))
    if (ATTEMPT_TOKEN.test(haystack.toString('latin1'))) found.push({ canary: 'attempt token', form: 'raw' })
    return found
  }
}
