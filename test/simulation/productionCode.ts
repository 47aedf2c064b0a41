// In charge of: loading the simulated code: the service's own, from the repository or from a copy with a planted bug.
// Not in charge of: the platform around it (platformModel.ts).
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Modules that the platform provides. The Worker waits for no remaining timers here, since the clock is virtual.
const PLATFORM = `export class DurableObject { constructor(ctx, env) { this.ctx = ctx; this.env = env } }
export const waitUntil = () => undefined`

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: `data:text/javascript,${encodeURIComponent(PLATFORM)}`, shortCircuit: true }
      : next(specifier, context),
})

export type Code = Awaited<ReturnType<typeof loadCode>>

/** @param root a directory that contains worker/ */
export async function loadCode(root: string) {
  const load = async (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href)
  const monitor = (await load('worker/monitor/jobMonitor.ts')) as typeof import('../../worker/monitor/jobMonitor.ts')
  const follow = (await load('worker/scheduler/applyEvent.ts')) as typeof import('../../worker/scheduler/applyEvent.ts')
  const schedule = (await load(
    'worker/scheduler/assignSlots.ts',
  )) as typeof import('../../worker/scheduler/assignSlots.ts')
  const commit = (await load(
    'worker/monitor/commitOutputs.ts',
  )) as typeof import('../../worker/monitor/commitOutputs.ts')
  const sink = (await load('worker/storage/jobStores.ts')) as typeof import('../../worker/storage/jobStores.ts')
  const advance = (await load(
    'worker/scheduler/transitionTask.ts',
  )) as typeof import('../../worker/scheduler/transitionTask.ts')
  const status = (await load('contract/api/publicStatus.ts')) as typeof import('../../contract/api/publicStatus.ts')
  const jobs = (await load('worker/db/jobs.ts')) as typeof import('../../worker/db/jobs.ts')
  const tasks = (await load('worker/db/tasks.ts')) as typeof import('../../worker/db/tasks.ts')
  const parts = (await load('worker/db/parts.ts')) as typeof import('../../worker/db/parts.ts')
  const builds = (await load('worker/taskApi/fittingBuild.ts')) as typeof import('../../worker/taskApi/fittingBuild.ts')
  const division = (await load('worker/taskApi/parts.ts')) as typeof import('../../worker/taskApi/parts.ts')
  return {
    root,
    JobMonitor: monitor.JobMonitor,
    apply: follow.applyEvent,
    schedule: schedule.assignSlots,
    dropRecord: commit.deleteCommitRecord,
    openSinkOf: sink.openJobSink,
    startLeaseMs: advance.START_LEASE_MS,
    transition: advance.transitionTask,
    publicStatus: status.publicStatus,
    jobs,
    tasks,
    parts,
    partRecords: division.partRecords,
    checkMain: follow.checkMain,
    endParts: follow.endParts,
    describeDivision: division.describeDivision,
    requireFittingBuild: builds.requireFittingBuild,
  }
}
