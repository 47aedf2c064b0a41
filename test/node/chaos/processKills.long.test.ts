// The short form of npm run long chaos: each kind of kill once, on jobs whose source is held back until it has happened.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampled } from '../../support/longForm.ts'
import { killScenario, KillTestBench } from './processKills.ts'

let fixture: KillTestBench
beforeAll(async () => {
  fixture = await KillTestBench.open()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test.each(sampled([1, 2, 3, 4, 5, 6], 4).map(killScenario))(
  'seed $seed: $kind, $blow with $fraction of the source',
  async (blow) => {
    expect(await fixture.run(blow)).toMatchObject({ hit: true, wrong: [] })
  },
  300_000,
)
