// In charge of: reading what other parts of a divided job delivered.
// Not in charge of: the request (taskClient).
import { expect, test } from 'vitest'
import { AttemptAbort } from '../../../../transcoder/errors.ts'
import { fetchRecords, requireRecord } from '../../../../transcoder/division/jobRecords.ts'

function reading(answer: (index: number) => unknown): Parameters<typeof fetchRecords>[0] {
  const taskClient = { fetchPartRecord: (index: number) => Promise.resolve(answer(index)) }
  return { taskClient: taskClient as never, controller: new AbortController() }
}

test('without the record that a part needs, its task is given back at once', async () => {
  expect(
    await requireRecord(
      reading((index) => ({ index })),
      0,
    ),
  ).toEqual({ index: 0 })
  const missing = requireRecord(
    reading(() => null),
    0,
  )
  await expect(missing).rejects.toBeInstanceOf(AttemptAbort)
  await expect(missing).rejects.toMatchObject({ kind: 'interrupted' })
})

test('records are in the order of the parts, and none may be missing', async () => {
  expect(
    await fetchRecords(
      reading((index) => index),
      20,
    ),
  ).toEqual(Array.from({ length: 20 }).map((_, index) => index))
  await expect(
    fetchRecords(
      reading((index) => (index === 3 ? null : index)),
      5,
    ),
  ).rejects.toThrow('Part 3')
})
