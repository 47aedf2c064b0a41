// In charge of: a body that does not arrive: the request ends, whoever sends it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readJson } from '../../../worker/http/jsonBody.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

test('a body that trickles is refused, and read no further', async () => {
  let isCancelled = false
  let trickle: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (trickle = controller),
    cancel: () => void (isCancelled = true),
  })
  const context = { req: { header: () => undefined, raw: { body } } }
  const read = readJson(context as never, 256 * 1024).catch((error: unknown) => error)
  for (let seconds = 0; seconds < 35; seconds += 5) {
    trickle?.enqueue(new TextEncoder().encode(' '))
    await vi.advanceTimersByTimeAsync(5000)
  }
  expect(isCancelled).toBe(false)
  await vi.advanceTimersByTimeAsync(5000)
  expect(await read).toMatchObject({ code: 'invalid_request', message: 'The body did not arrive within 35 s.' })
  expect(isCancelled).toBe(true)
})
