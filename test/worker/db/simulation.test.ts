// The service's SQL on a real D1, against the model that the simulation uses: the same statements give the same answers
// and rows.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Tape } from '../../simulation/databaseModel.ts'
import { replay } from '../../simulation/sqlReplay.ts'

/** The long form is `npm run long repeat`; docs/reliability.md has its results. */
const SEEDS = Number(env.SIMULATE_SEEDS || 15)

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

test(`model and D1 agree after every event of ${SEEDS} seeds`, async () => {
  const { body } = await env.TAPES.fetch(`http://tapes.test/?seeds=${SEEDS}`)
  let seed = 0
  let events = 0
  for await (const line of linesOf(body!)) {
    const tape = JSON.parse(line) as Tape
    seed++
    expect(await replay(env.DB, tape), `npm run long simulate -- --seed ${seed} --trace --sql`).toBeNull()
    events += tape.filter(({ sql }) => sql.startsWith('UPDATE tasks')).length
  }
  expect(seed).toBe(SEEDS)
  expect(events).toBeGreaterThan(SEEDS * 5)
  console.log(`${SEEDS} seeds, ${events} events on D1`)
}, 7_200_000)
