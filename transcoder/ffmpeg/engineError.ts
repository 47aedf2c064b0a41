// In charge of: the error of a run of ffmpeg or ffprobe that its exit cannot explain.
// Not in charge of: what it means for a task (transcoder/errors.ts), exits (exit.ts).

export type EngineReason =
  /** A SIGKILL that was not ours: what the program said until then is no judgement of the media. */
  | 'killed'
  /** More bytes than the output may have. */
  | 'output_too_large'
  /** Bytes that are not of the promised format. */
  | 'output_broken'

export class EngineError extends Error {
  override name = 'EngineError'
  readonly reason: EngineReason

  constructor(reason: EngineReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
