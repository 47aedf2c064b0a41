// In charge of: the error after which one task makes a job that was divided.
// Not in charge of: who makes it then (attemptSteps.ts).

/** The outputs of the chunks cannot be joined into one stream. `message`: the end of a sentence. */
export class UnlikeChunks extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'UnlikeChunks'
  }
}
