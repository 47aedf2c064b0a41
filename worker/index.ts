// In charge of: the Worker's entry points. Not in charge of: what they do.
import { app } from './app.ts'
import type { ProbeMessage } from './diagnosis/probe.ts'
import { markSweep } from './ledger/marks.ts'
import { consume } from './queue.ts'
import type { StartMessage } from './schedule.ts'
import { sweep } from './sweep.ts'

export { Transcoder } from './container.ts'
export { Courier } from './courier.ts'
export { JobMonitor } from './monitor.ts'
export { Outbound } from './outbound.ts'
export { ResumableUpload } from './tus/upload.ts'

export default {
  fetch: app.fetch,
  queue: (batch, env) => consume(batch, env),
  scheduled: async (_event, env) => {
    await sweep(env)
    await markSweep(env.DB, Date.now())
  },
} satisfies ExportedHandler<Env, StartMessage | ProbeMessage>
