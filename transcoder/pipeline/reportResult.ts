// In charge of: reporting the result of a successful attempt, by its kind.
// Not in charge of: the result (attemptSteps.ts), failures (reportFailure.ts).
import type { DeliverPost, DividePost, EstimatePost, FinishPost } from '#contract/task/protocol.ts'
import type { Log } from '../log.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'

export type AttemptResult =
  | { kind: 'finish'; post: FinishPost }
  | { kind: 'estimate'; post: EstimatePost }
  /** The job goes on as parts. */
  | { kind: 'divide'; post: DividePost }
  /** A part of the job is made. */
  | { kind: 'deliver'; post: DeliverPost }

export async function reportResult(
  taskClient: TaskClient,
  result: AttemptResult,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  switch (result.kind) {
    case 'finish': {
      const { objects, progress } = result.post
      await taskClient.postFinish(result.post, signal)
      return log.info('finished', { outputs: objects.length, bytes: progress.bytes_stored })
    }
    case 'estimate':
      await taskClient.postEstimate(result.post, signal)
      return log.info('estimated', { outputs: result.post.estimate.plan.outputs.length })
    case 'divide':
      await taskClient.postDivide(result.post, signal)
      return log.info('divided', { parts: result.post.parts })
    case 'deliver':
      await taskClient.postDeliver(result.post, signal)
      return log.info('delivered', { bytes: result.post.progress.bytes_stored })
  }
}
