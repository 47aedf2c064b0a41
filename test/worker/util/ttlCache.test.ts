// State that requests of one attempt share: never a promise that only another request can settle.
import { expect, test, vi } from 'vitest'
import { TtlCache } from '../../../worker/util/ttlCache.ts'

test('caches what was opened for a while, and no failure', async () => {
  const kept = new TtlCache<number>()
  let opened = 0
  const open = async () => ++opened
  expect([await kept.get('a', open), await kept.get('a', open), await kept.get('b', open)]).toEqual([1, 1, 2])
  await expect(kept.get('c', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await kept.get('c', open)).toBe(3)
  vi.useFakeTimers({ now: Date.now() + 60_001 })
  try {
    expect(await kept.get('a', open)).toBe(4)
  } finally {
    vi.useRealTimers()
  }
})

test('a cancelled request does not block others that open the same entry', async () => {
  const kept = new TtlCache<number>()
  void kept.get('a', () => new Promise<never>(() => undefined))
  expect(await kept.get('a', async () => 1)).toBe(1)
})
