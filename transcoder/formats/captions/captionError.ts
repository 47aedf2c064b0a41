// In charge of: the error of all readers of caption files.
// Not in charge of: its effect on a job (transcoder/source/captionFiles.ts).

/** The file cannot be read as captions. */
export class CaptionError extends Error {
  override name = 'CaptionError'
  /** 1-based; null = the error is not in one line, or the format has none. */
  readonly line: number | null
  constructor(message: string, line: number | null = null) {
    super(message)
    this.line = line
  }
}
