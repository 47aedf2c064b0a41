// In charge of: the error of all media parsers.
// Not in charge of: its effect on a job (transcoder/errors.ts).

/** A media stream is not as expected: cut off, damaged, or without a key frame where a segment must begin. */
export class FormatError extends Error {
  override name = 'FormatError'
  readonly code: 'damaged' | 'cut off' | 'no key frame'
  constructor(code: FormatError['code'], message: string) {
    super(message)
    this.code = code
  }
}
