// In charge of: the tests of the table of the everyday: each row through the three requests that people really send.
// Not in charge of: which rows a form of the tests takes (everyday.test.ts).
import { mkdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { skipTest } from '../../support/requirement.ts'
import { useAttemptFixture } from '../../support/transcoder/useAttempts.ts'
import { compare } from './judge.ts'
import { answer, REQUESTS, type Answer, type RequestName } from './requests.ts'
import type { Row } from './row.ts'
import { watch, type Seen } from './watch.ts'
import { Missing, Workshop, type Source } from './workshop.ts'

/** What is wrong with the answer to one request. */
async function faultsOf(row: Row, seen: Seen | null, given: Answer, request: RequestName): Promise<string[]> {
  const { error, warnings } = given
  if (row.refused !== undefined) {
    if (error === null) return ['it is not refused']
    const { code, says } = row.refused
    return error.code === code && says.test(error.message) ? [] : [`refused with ${error.code}: ${error.message}`]
  }
  if (error !== null) return [`${error.code}: ${error.message}`]
  const unsaid = (row.warns ?? []).filter((code) => !warnings.includes(code)).map((code) => `no warning ${code}`)
  return [...compare(seen!, given.seen!), ...unsaid, ...((await row.also?.(given, request)) ?? [])]
}

export async function testRows(rows: readonly Row[]): Promise<void> {
  const fixture = await useAttemptFixture()
  let made = 0
  test.for(rows.map((row) => [row.kind, row] as const))('%s', async ([, row], context) => {
    const directory = `${fixture.directory}/${(made += 1)}`
    await mkdir(directory)
    const source = await row.make(new Workshop(directory)).catch((error: unknown): Source => {
      if (error instanceof Missing) return skipTest(context, error.message)
      throw error
    })
    const seen =
      row.refused === undefined ? (source.seen ?? (await watch({ video: source.path }, { ownShape: true }))) : null
    const found = await Promise.all(
      REQUESTS.map(async (request) => {
        const faults = await faultsOf(row, seen, await answer(fixture, [source.path], request), request)
        return [request, faults] as const
      }),
    )
    // Printed with the test: what a known finding still does, or that its line in the row can go.
    if (row.known !== undefined)
      for (const [request, faults] of found)
        console.info(`${row.kind}, ${request}, ${row.known.why}: ${faults.join('; ') || 'mended'}`)
    const unknown = found.map(
      ([request, faults]) => [request, faults.filter((each) => !row.known?.faults.test(each))] as const,
    )
    expect(Object.fromEntries(unknown.filter(([, faults]) => faults.length > 0))).toEqual({})
  })
}
