// In charge of: what all tests of a file about attempts share: the fixture, and a new task API for each test.
// Not in charge of: tasks and sources.
import { afterAll, afterEach, beforeEach } from 'vitest'
import { openAttemptFixture, type AttemptFixture } from './attemptFixture.ts'
import { FakeTaskApi } from './fakeTaskApi.ts'

/** Awaited at the top of a file. Its log begins empty in every test; its files are removed after the last test. */
export async function useAttemptFixture(): Promise<AttemptFixture> {
  const fixture = await openAttemptFixture()
  beforeEach(() => {
    fixture.lines.length = 0
  })
  afterAll(() => fixture.remove())
  return fixture
}

/** Stands for the task API of the test that runs. `source` returns its source, if all tests have the same. */
export function useTaskApi(source: () => Buffer = () => Buffer.alloc(0)): FakeTaskApi {
  let current: FakeTaskApi | undefined
  beforeEach(async () => {
    current = await new FakeTaskApi({ bytes: source() }).start()
  })
  afterEach(() => current?.stop())
  const started = (): FakeTaskApi => {
    if (current === undefined) throw new Error('the task API is there only while a test runs')
    return current
  }
  return new Proxy({} as FakeTaskApi, {
    get(_target, name) {
      const value: unknown = Reflect.get(started(), name)
      return typeof value === 'function' ? (value.bind(started()) as unknown) : value
    },
    set: (_target, name, value) => Reflect.set(started(), name, value),
  })
}
