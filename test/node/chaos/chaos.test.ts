// The short form of npm run chaos: each kind of output and each kind of blow once, at seeded moments.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blowOf, Lab } from './chaos.ts'

let lab: Lab
beforeAll(async () => {
  lab = await Lab.open()
})
afterAll(() => lab?.[Symbol.asyncDispose]())

test.each([1, 2, 3, 4, 5].map(blowOf))(
  'seed $seed: $kind, $blow at $point',
  async (blow) => {
    expect((await lab.run(blow)).wrong).toEqual([])
  },
  300_000,
)
