// In charge of: clearing memory on demand, for what must not hang on when that happens to be done.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** At once. */
export const gc = runInNewContext('gc') as () => void

/** And lets come what comes of it: finalizers are told in turns of their own. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
