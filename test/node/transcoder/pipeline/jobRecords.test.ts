// In charge of: waiting for what another part of a divided job delivered.
// Not in charge of: the request (taskClient).
import { expect, test } from 'vitest'
import { AttemptAbort } from '../../../../transcoder/errors.ts'
import { fetchRecords, waitForRecord } from '../../../../transcoder/pipeline/division/jobRecords.ts'

/** `records`: the answers to one request after another, or by index. */
function reading(answer: (index: number, request: number) => unknown): Parameters<typeof fetchRecords>[0] {
  let requests = 0
  const taskClient = { fetchPartRecord: (index: number) => Promise.resolve(answer(index, requests++)) }
  return { taskClient: taskClient as never, controller: new AbortController() }
}

test('a record that is not there yet is asked for again', async () => {
  const found = await waitForRecord(
    reading((_index, request) => (request < 3 ? null : { request })),
    0,
    { longestMs: 60_000, pollMs: 1 },
  )
  expect(found).toEqual({ request: 3 })
})

test('after the longest wait the task is given back', async () => {
  const waiting = waitForRecord(
    reading(() => null),
    0,
    { longestMs: 0, pollMs: 1 },
  )
  await expect(waiting).rejects.toBeInstanceOf(AttemptAbort)
  await expect(waiting).rejects.toMatchObject({ kind: 'interrupted' })
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
