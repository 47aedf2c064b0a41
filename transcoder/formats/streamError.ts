// In charge of: the error of everything that parses media.
// Not in charge of: what it does to a job (transcoder/errors.ts).

/** An encoder's stream is not what was ordered: cut off, damaged, or without a key frame where a segment must begin. */
export class FormatError extends Error {
  override name = 'StreamError'
  readonly code: 'damaged' | 'cut off' | 'no key frame'
  constructor(code: FormatError['code'], message: string) {
    super(message)
    this.code = code
  }
}
