// In charge of: which code is simulated: the service's own decisions, from the repository or from a copy of it with a bug.
// Not in charge of: the world around them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as lifecycle from '#contract/task/lifecycle.ts'
import type * as status from '#contract/api/status.ts'
import type * as task from '#contract/task/protocol.ts'
import type { Sql } from './sqlReplay.ts'
import type * as lease from '../../worker/monitor/lease.ts'
import type * as live from '../../worker/monitor/jobProgress.ts'

export interface Rules {
  transition: typeof lifecycle.transition
  jobState: typeof lifecycle.jobState
  terminal: typeof lifecycle.terminal
  highest: typeof live.highest
  leaseEnd: typeof lease.leaseEnd
  publicStatus: typeof status.publicStatus
  protocolOf: typeof task.protocolOf
}

async function loadFrom(root: string, path: string): Promise<unknown> {
  return (await import(pathToFileURL(join(root, 'worker', path)).href)) as unknown
}

/** @param root a directory with worker/ in it */
export async function loadSql(root: string): Promise<Sql> {
  const { advance } = (await loadFrom(root, 'advance.ts')) as Pick<Sql, 'advance'>
  const tasks = (await loadFrom(root, 'ledger/tasks.ts')) as Omit<Sql, 'advance' | 'listOverdueJobs'>
  const { listOverdueJobs } = (await loadFrom(root, 'ledger/jobs.ts')) as Pick<Sql, 'listOverdueJobs'>
  return {
    advance,
    listOverdueJobs,
    listBusySlots: tasks.listBusySlots,
    listWaitingTasks: tasks.listWaitingTasks,
    listNeglectedTasks: tasks.listNeglectedTasks,
  }
}

/** @param root a directory with worker/ in it */
export async function loadRules(root: string): Promise<Rules> {
  const load = (path: string) => loadFrom(root, path)
  const { transition, jobState, terminal } = (await load('contract/lifecycle.ts')) as typeof lifecycle
  const { publicStatus } = (await load('contract/status.ts')) as typeof status
  const { protocolOf } = (await load('contract/task.ts')) as typeof task
  const { highest } = (await load('live.ts')) as typeof live
  const { leaseEnd } = (await load('lease.ts')) as typeof lease
  return { transition, jobState, terminal, highest, leaseEnd, publicStatus, protocolOf }
}
