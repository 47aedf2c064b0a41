// In charge of: the only network access of a production container: requests to one host name, which are routed to the
// task API. The platform blocks everything else (`enableInternet: false`).
// Not in charge of: what the task API answers (taskRoutes.ts).
import { WorkerEntrypoint } from 'cloudflare:workers'
import { TASK_API_HOST } from '../transcoders/taskApiUrl.ts'
import { taskApi } from './taskRoutes.ts'

export class Outbound extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    // The platform routes only this name here. Checked again, because a container must never reach anything else.
    if (new URL(request.url).hostname !== TASK_API_HOST)
      return new Response('Only the task API is reachable.', { status: 403 })
    // The routes use `waitUntil`, so they need the execution context of this call.
    return taskApi.fetch(request, this.env, this.ctx)
  }
}
