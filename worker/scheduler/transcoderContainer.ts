// In charge of: the Durable Object behind each container of the production transcoder: one a slot, named `slot-<k>`.
// Not in charge of: when a container starts, ends or is watched (containerInstance.ts); local transcoders (dispatch.ts).
import { DurableObject } from 'cloudflare:workers'
import type { RunRequest } from '#contract/task/protocol.ts'
import type { ContainerFacts } from './containerHealth.ts'
import { apply, monitorOf } from './applyEvent.ts'
import type { Refusal, Serving } from './containerInstance.ts'
import { Instance } from './containerInstance.ts'
import { findTask } from '../db/tasks.ts'
import { TASK_API_HOST } from '../taskApi/outbound.ts'

export class Transcoder extends DurableObject<Env> {
  readonly #instance: Instance

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const { container } = ctx
    if (!container)
      throw new Error('There is no container behind this Durable Object ([[containers]] in wrangler.toml).')
    this.#instance = new Instance({
      container,
      storage: ctx.storage,
      openWayOut: () => container.interceptOutboundHttp(TASK_API_HOST, ctx.exports.Outbound({})),
      isCurrent: async ({ task: id, attempt }) => {
        const task = await findTask(env.DB, id)
        const active = task?.state === 'starting' || task?.state === 'running' || task?.state === 'committing'
        return active && task.attempt === attempt
      },
      // Said at once instead of after the lease: a host that failed, a crash, memory that ran out.
      lost: async ({ jobId, task: id, attempt }) => {
        const ranMs = await monitorOf(env, jobId).ranMs()
        await apply(env, { id, jobId }, { type: 'lost', attempt, ranMs })
      },
    })
    void ctx.blockConcurrencyWhile(() => this.#instance.resume())
  }

  run(serving: Serving, request: RunRequest): Promise<Refusal | null> {
    return this.#instance.run(serving, request)
  }

  cancel(task: string, attempt: number): Promise<void> {
    return this.#instance.cancel(task, attempt)
  }

  /** For a diagnosis. Starts nothing. */
  look(): Promise<ContainerFacts> {
    return this.#instance.look()
  }

  override alarm(): Promise<void> {
    return this.#instance.check()
  }
}
