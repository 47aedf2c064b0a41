// In charge of: forcing garbage collection, for results that must not depend on when it happens.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** Collects synchronously. */
export const gc = runInNewContext('gc') as () => void

/** Collects, and waits for the finalizers, which run in later turns of the event loop. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
