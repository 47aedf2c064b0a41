// In charge of: the Durable Object of each production transcoder container: one per slot, named `slot-<k>`.
// Not in charge of: starting, watching and ending containers (containerInstance.ts); local transcoders (dispatch.ts).
import { DurableObject } from 'cloudflare:workers'
import type { RunRequest } from '#contract/task/protocol.ts'
import type { ContainerHealth } from './containerHealth.ts'
import { applyEvent, taskMonitor } from './applyEvent.ts'
import { ContainerInstance, type StartRefusal, type ContainerAttempt } from './containerInstance.ts'
import { findTask } from '../db/tasks.ts'
import { TASK_API_HOST } from '../transcoders/taskApiUrl.ts'

export class Transcoder extends DurableObject<Env> {
  readonly #instance: ContainerInstance

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { container } = ctx
    if (!container)
      throw new Error('There is no container behind this Durable Object ([[containers]] in wrangler.toml).')
    this.#instance = new ContainerInstance({
      container,
      storage: ctx.storage,
      routeOutbound: () => container.interceptOutboundHttp(TASK_API_HOST, ctx.exports.Outbound({})),
      isCurrent: async ({ task: id, attempt }) => {
        const task = await findTask(env.DB, id)
        const active = task?.state === 'starting' || task?.state === 'running' || task?.state === 'committing'
        return active && task.attempt === attempt
      },
      // Reported at once instead of after the lease: a failed host, a crash, out of memory.
      attemptLost: async ({ jobId, task: id, attempt }) => {
        const { used, ...figures } = await taskMonitor(env, id).attemptFigures(attempt)
        await applyEvent(env, { id, jobId }, { type: 'lost', attempt, ...figures }, used)
      },
    })
    void ctx.blockConcurrencyWhile(() => this.#instance.reattach())
  }

  run(serving: ContainerAttempt, request: RunRequest, startMs: number): Promise<StartRefusal | null> {
    return this.#instance.startAttempt(serving, request, startMs)
  }

  cancel(task: string, attempt: number): Promise<void> {
    return this.#instance.cancel(task, attempt)
  }

  /** For a diagnosis. Does not start a container. */
  health(): Promise<ContainerHealth> {
    return this.#instance.health()
  }

  override alarm(): Promise<void> {
    return this.#instance.checkAlive()
  }
}
