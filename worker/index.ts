// In charge of: the Worker's entry points. Not in charge of: what they do.
import { app } from './app.ts'
import type { ProbeMessage } from './scheduler/queueProbe.ts'
import { recordCronRun } from './db/lastSeen.ts'
import { consumeQueue } from './scheduler/queueConsumer.ts'
import type { StartMessage } from './scheduler/assignSlots.ts'
import { reconcile } from './reconciler.ts'
import { noteOwnAddress } from './transcoders/taskApiUrl.ts'

export { Transcoder } from './scheduler/transcoderContainer.ts'
export { Courier } from './webhooks/webhookScheduler.ts'
export { JobMonitor } from './monitor/jobMonitor.ts'
export { Outbound } from './taskApi/outbound.ts'
export { ResumableUpload } from './uploads/tus/resumableUpload.ts'

export default {
  fetch: (request, env, ctx) => {
    noteOwnAddress(request.url)
    return app.fetch(request, env, ctx)
  },
  queue: (batch, env) => consumeQueue(batch, env),
  scheduled: async (_event, env) => {
    await reconcile(env)
    await recordCronRun(env.DB, Date.now())
  },
} satisfies ExportedHandler<Env, StartMessage | ProbeMessage>
