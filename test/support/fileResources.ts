// In charge of: ending what the tests of one file share.
import { afterAll } from 'vitest'

/**
 * What is put on this stack in `beforeAll` is disposed of after the tests of the file (or of the `describe`), the last
 * one first; also after a `beforeAll` that failed half-way.
 */
export function fileResources(): AsyncDisposableStack {
  const stack = new AsyncDisposableStack()
  afterAll(() => stack.disposeAsync())
  return stack
}
