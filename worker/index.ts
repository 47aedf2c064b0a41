// In charge of: the Worker's entry points. Not in charge of: what they do.
import { app } from './app.ts'
import type { ProbeMessage } from './scheduler/queueProbe.ts'
import { markSweep } from './db/lastSeen.ts'
import { consume } from './scheduler/queueConsumer.ts'
import type { StartMessage } from './scheduler/assignSlots.ts'
import { sweep } from './reconciler.ts'

export { Transcoder } from './scheduler/transcoderContainer.ts'
export { Courier } from './webhooks/webhookScheduler.ts'
export { JobMonitor } from './monitor/jobMonitor.ts'
export { Outbound } from './taskApi/outbound.ts'
export { ResumableUpload } from './uploads/tus/resumableUpload.ts'

export default {
  fetch: app.fetch,
  queue: (batch, env) => consume(batch, env),
  scheduled: async (_event, env) => {
    await sweep(env)
    await markSweep(env.DB, Date.now())
  },
} satisfies ExportedHandler<Env, StartMessage | ProbeMessage>
