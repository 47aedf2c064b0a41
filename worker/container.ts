// In charge of: the production transcoder: a Cloudflare Container per slot, without internet, that reaches the task door only.
// Not in charge of: local transcoders (dispatch.ts talks to those directly).
import { Container } from '@cloudflare/containers'
import { monitorOf, apply } from './follow.ts'
import { door } from './routes/door.ts'

interface Running {
  jobId: string
  task: string
  attempt: number
}

export class Transcoder extends Container<Env> {
  override defaultPort = 8788
  /** Renewed by every heartbeat (see `renew`); an idle container is gone after this. */
  override sleepAfter = '5m'
  override enableInternet = false

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/run') return super.fetch(request)
    const jobId = request.headers.get('x-splicepoint-job') ?? ''
    const body = await request.clone().json<{ task_id: string; attempt: number }>()
    const before = await this.ctx.storage.get<Running>('running')
    // A container serves one job only: what a hostile file may have left behind must not meet the next customer (I14).
    if (before && before.jobId !== jobId) await this.destroy()
    await this.ctx.storage.put<Running>('running', { jobId, task: body.task_id, attempt: body.attempt })
    // Starting can fail ("no container instance"); dispatch.ts takes any failure for a start to be tried again.
    await this.startAndWaitForPorts()
    return super.fetch(request)
  }

  /** Heartbeats keep the container awake: only requests to the Durable Object count, not ffmpeg's work. */
  renew(): void {
    this.renewActivityTimeout()
  }

  /** Host restart, crash or SIGTERM: said at once instead of after the lease. */
  override async onStop(): Promise<void> {
    const running = await this.ctx.storage.get<Running>('running')
    if (!running) return
    await this.ctx.storage.delete('running')
    const { jobId, task, attempt } = running
    const ranMs = await monitorOf(this.env, jobId).ranMs()
    await apply(this.env, { id: task, jobId }, { type: 'lost', attempt, ranMs })
  }

  override async onActivityExpired(): Promise<void> {
    await this.destroy()
  }
}

Transcoder.outboundByHost = {
  'door.splicepoint.internal': async (request: Request, env: Env, context: { containerId: string }) => {
    if (request.url.endsWith('/progress')) {
      const id = env.TRANSCODER.idFromString(context.containerId)
      await env.TRANSCODER.get(id).renew()
    }
    return door.fetch(request, env)
  },
}
