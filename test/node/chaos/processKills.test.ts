// The short form of npm run chaos: each kind of blow once, on jobs whose source is held until it has fallen.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blowOf, Lab } from './processKills.ts'

let lab: Lab
beforeAll(async () => {
  lab = await Lab.open()
})
afterAll(() => lab?.[Symbol.asyncDispose]())

test.each([1, 2, 3, 4, 5, 6].map(blowOf))(
  'seed $seed: $kind, $blow with $fraction of the source',
  async (blow) => {
    expect(await lab.run(blow)).toMatchObject({ hit: true, wrong: [] })
  },
  300_000,
)
