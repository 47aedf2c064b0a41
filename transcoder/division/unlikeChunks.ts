// In charge of: the error that makes one task of a job that was divided.
// Not in charge of: who makes it then (pipeline/attemptSteps.ts).

/** What the chunks of a job make would be no stream together. `message`: the end of a sentence. */
export class UnlikeChunks extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'UnlikeChunks'
  }
}
