// Deleting what an ended job left behind, when the store refuses some of it.
import { expect, test } from 'vitest'
import type { WriteJournal } from '../../../worker/monitor/writeJournal.ts'
import { cleanUpStep } from '../../../worker/monitor/cleanUp.ts'
import { StoreError } from '../../../worker/storage/objectStore.ts'

function journalThatCannotAbort(code: 'forbidden' | 'unreachable') {
  const discarded: string[] = []
  const journal = {
    abortUploads: () => Promise.reject(new StoreError(code, 'aws', 'abortUpload', 'no')),
    hasObjects: () => Promise.resolve(true),
    deleteBatch: (_sink: unknown, pass: string) => {
      discarded.push(pass)
      return Promise.resolve(true)
    },
  } as unknown as WriteJournal
  return { journal, discarded }
}

const noSink = () => Promise.resolve(null)

test('an upload whose abort is refused does not keep the segments', async () => {
  const { journal, discarded } = journalThatCannotAbort('forbidden')
  const next = await cleanUpStep(journal, noSink, { jobId: 'j' }, null)
  expect(discarded).toEqual(['end'])
  expect(next?.over.pass).toBe('late')
})

test('an abort that fails temporarily is retried after the segments were removed', async () => {
  const { journal, discarded } = journalThatCannotAbort('unreachable')
  const next = await cleanUpStep(journal, noSink, { jobId: 'j' }, null)
  expect(discarded).toEqual(['end'])
  expect(next?.over).toMatchObject({ pass: 'end', tries: 1 })
})
