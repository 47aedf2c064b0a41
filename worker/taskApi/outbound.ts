// In charge of: the only way out of a production container: its requests to one host name, which are led to the task API.
// Everything else that it tries ends at the platform (`enableInternet: false`).
// Not in charge of: what the task API answers (taskRoutes.ts).
import { WorkerEntrypoint } from 'cloudflare:workers'
import { taskApi } from './taskRoutes.ts'

/** Given to attempts as the address of the service (env.ts, `doorUrl`). */
export const TASK_API_HOST = 'door.splicepoint.internal'

export class Outbound extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    // The platform leads only this name here; asked again, because nothing else may ever be reached from a container.
    if (new URL(request.url).hostname !== TASK_API_HOST)
      return new Response('Only the task API is reachable.', { status: 403 })
    // The routes hand work to `waitUntil`, so they need the context of this very call.
    return taskApi.fetch(request, this.env, this.ctx)
  }
}
