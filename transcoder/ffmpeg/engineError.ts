// In charge of: errors of a run of ffmpeg or ffprobe that its exit does not explain.
// Not in charge of: what they mean for a task (transcoder/errors.ts), exits (exit.ts).

export type EngineReason =
  /** A SIGKILL that this process did not send: the program's output so far says nothing about the media. */
  | 'killed'
  /** The output has more bytes than allowed. */
  | 'output_too_large'
  /** The bytes are not of the expected format. */
  | 'output_broken'

export class EngineError extends Error {
  override name = 'EngineError'
  readonly reason: EngineReason

  constructor(reason: EngineReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
