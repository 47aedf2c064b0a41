// In charge of: when parts of a job end, by their predicted times: each slot takes the next one as it becomes free.
// Not in charge of: the order of waiting tasks (worker/db/tasks.ts), the predictions (estimate/costModel.ts).

export class SlotTimes {
  /** When each slot becomes free, in seconds. Ascending. */
  readonly #freeAt: number[]

  constructor(slots: number) {
    this.#freeAt = Array.from({ length: slots }, () => 0)
  }

  /** The next part. @returns when it ends */
  run(seconds: number): number {
    const end = this.#freeAt.shift()! + seconds
    this.#freeAt.splice(this.#freeAt.findLastIndex((at) => at <= end) + 1, 0, end)
    return end
  }
}
