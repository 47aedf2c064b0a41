// In charge of: bugs, as patches for a copy of the source, and what must be said of each.
// Not in charge of: applying them (test/node/harness/simulation.test.ts). Nothing of this is ever part of what is shipped.

export interface Planted {
  name: string
  file: string
  /** Stands exactly once in the file. */
  find: string
  put: string
  /** 1, where it is not rare. */
  from?: number
  /** It must be found within so many. */
  seeds: number
  finds: RegExp
  /** Only the SQL has it. */
  sql?: boolean
}

const lifecycle = 'contract/task/lifecycle.ts'
const tasks = 'worker/db/tasks.ts'

export const PLANTED: readonly Planted[] = [
  {
    name: 'a dropped fence: events of any attempt are taken',
    file: lifecycle,
    find: `if ('attempt' in event && event.attempt !== lifecycle.attempt) return refuseTransition('stale')`,
    put: '',
    seeds: 1000,
    finds: /I3|I11/,
  },
  {
    name: 'a terminal state that changes',
    file: lifecycle,
    find: '    return refuseTransition(repeated ?',
    put: `    if (event.type === 'cancel') return acceptTransition(lifecycle, { state: 'cancelled' }, [])
    return refuseTransition(repeated ?`,
    seeds: 1000,
    finds: /I2 /,
  },
  {
    name: 'cancel beats the commit',
    file: lifecycle,
    find: `if (lifecycle.state === 'committing') return refuseTransition('impossible')
      return acceptTransition(
        lifecycle,
        { state: 'cancelled' },`,
    put: `return acceptTransition(
        lifecycle,
        { state: 'cancelled' },`,
    seeds: 5000,
    finds: /I9/,
  },
  {
    name: 'a slot is not released behind a finish',
    file: lifecycle,
    find: `{ state: 'committing' }, ['release_slot', 'schedule']`,
    put: `{ state: 'committing' }, ['schedule']`,
    seeds: 100,
    finds: /I3 .*slots/,
  },
  {
    name: 'a lost attempt is not counted',
    file: lifecycle,
    find: 'const lost = lifecycle.lost + 1',
    put: 'const lost = lifecycle.lost',
    seeds: 1000,
    finds: /I1 /,
  },
  {
    name: 'one attempt too many',
    file: lifecycle,
    find: 'if (lost >= MAX_LOST_ATTEMPTS)',
    put: 'if (lost > MAX_LOST_ATTEMPTS)',
    seeds: 2000,
    finds: /I1 /,
  },
  {
    name: 'a retry without a pause',
    file: lifecycle,
    find: '    retryDelayMs(lost, error),\n',
    put: '    0,\n',
    seeds: 1000,
    finds: /I11/,
  },
  {
    name: 'a retry without a cap',
    file: lifecycle,
    find: 'Math.min(60_000, 1000 * 2 ** (lost - 1))',
    put: '1000 * 60 ** lost * 2',
    seeds: 1000,
    finds: /I11/,
  },
  {
    name: 'finish is taken from a task that is not running',
    file: lifecycle,
    find: `return lifecycle.state === 'running' && lifecycle.kind === 'transcode'`,
    put: `return lifecycle.kind === 'transcode'`,
    seeds: 1000,
    finds: /I/,
  },
  {
    name: 'a dry run commits',
    file: lifecycle,
    find: `return lifecycle.state === 'running' && lifecycle.kind === 'plan'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['release_slot', 'clean_up', 'schedule'])`,
    put: `return lifecycle.state === 'running' && lifecycle.kind === 'plan'
        ? acceptTransition(lifecycle, { state: 'committing' }, ['release_slot', 'schedule'])`,
    seeds: 200,
    finds: /I7|I6|I1/,
  },
  {
    name: 'a permanent error is tried again',
    file: lifecycle,
    find: `? acceptTransition(lifecycle, { state: 'failed' }, ['release_slot', 'clean_up', 'schedule'], event.error)`,
    put: `? acceptTransition(lifecycle, { state: 'queued' }, ['release_slot', 'schedule'], null)`,
    seeds: 500,
    finds: /I13/,
  },
  {
    name: 'a start that failed counts as a lost attempt',
    file: lifecycle,
    find: `starts_failed: failed } as const`,
    put: `starts_failed: failed, lost: lifecycle.lost + 1 } as const`,
    seeds: 500,
    finds: /I1/,
  },
  {
    name: 'starts that go on failing do not back off',
    file: lifecycle,
    find: `Math.min(MAX_START_RETRY_MS, START_RETRY_MS * 2 ** (failed - 1))`,
    put: 'START_RETRY_MS + 0 * failed',
    seeds: 1000,
    finds: /I11 .*start/,
  },
  {
    name: 'an eviction counts as a lost attempt',
    file: lifecycle,
    find: `? acceptTransition(lifecycle, { state: 'queued' }, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)`,
    put: `? acceptTransition(lifecycle, { state: 'queued', lost: lifecycle.lost + 1 }, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)`,
    seeds: 500,
    finds: /I1/,
  },
  {
    name: 'a start that is never confirmed is waited for five minutes',
    file: 'worker/scheduler/transitionTask.ts',
    find: 'export const START_LEASE_MS = 30_000',
    put: 'export const START_LEASE_MS = 300_000',
    seeds: 500,
    finds: /I1 .*starting/,
  },
  {
    name: 'an overtaken request makes an earlier attempt current again',
    file: 'worker/monitor/currentAttempt.ts',
    find: 'if (this.state) return !this.state.over && attempt >= this.state.attempt',
    put: 'if (this.state) return !this.state.over',
    seeds: 1500,
    finds: /I3 /,
  },
  {
    name: 'a late request makes its attempt current in an empty monitor',
    file: 'worker/monitor/currentAttempt.ts',
    find: 'return task?.state === state && task.attempt === attempt',
    put: 'return task !== null && state !== null',
    from: 500,
    seeds: 1500,
    finds: /I3 /,
  },
  {
    name: 'an attempt can write after the end of its job',
    file: 'worker/monitor/currentAttempt.ts',
    find: `if (this.finalReply || this.state?.over) return 'over'`,
    put: '',
    seeds: 100,
    finds: /I8 /,
  },
  {
    name: 'progress goes on while a job is about to end',
    file: 'worker/monitor/currentAttempt.ts',
    find: 'await this.save({ ...this.state, heldUntil: now + PROGRESS_HOLD_MS })',
    put: 'await this.save({ ...this.state, heldUntil: now })',
    from: 700,
    seeds: 1500,
    finds: /I4/,
  },
  {
    name: 'the journal does not keep an upload',
    file: 'worker/monitor/writeJournal.ts',
    find: 'await this.#storage.put(UPLOAD_PREFIX + upload, { attempt, path } satisfies JournaledUpload)',
    put: 'void { attempt, path, upload }',
    seeds: 50,
    finds: /I8/,
  },
  {
    name: 'the journal forgets an upload before it is aborted',
    file: 'worker/monitor/writeJournal.ts',
    find: `await (await sink())?.abortUpload(upload.path, key.slice(UPLOAD_PREFIX.length))
      await this.#storage.delete(key)`,
    put: `await this.#storage.delete(key)
      await (await sink())?.abortUpload(upload.path, key.slice(UPLOAD_PREFIX.length))`,
    seeds: 200,
    finds: /I8/,
  },
  {
    name: 'the journal counts a batch as removed before it is',
    file: 'worker/monitor/writeJournal.ts',
    find: `await (await sink())?.deleteMany(keys.map((key) => key.slice(objectPrefix(0).length)))
    await this.#storage.put(cursor, last)`,
    put: `await this.#storage.put(cursor, last)
    await (await sink())?.deleteMany(keys.map((key) => key.slice(objectPrefix(0).length)))`,
    from: 2100,
    seeds: 2000,
    finds: /I8/,
  },
  {
    name: 'commit records are dropped while one is being stored',
    file: 'worker/monitor/commitRunner.ts',
    find: 'await Promise.allSettled(this.#pendingRecords)',
    put: '',
    seeds: 500,
    finds: /I8/,
  },
  {
    name: 'two commits of a job run at once',
    file: 'worker/monitor/commitRunner.ts',
    find: 'this.#running ??= this.#tryCommit',
    put: 'this.#running = this.#tryCommit',
    seeds: 500,
    finds: /I6 /,
  },
  {
    name: 'a commit fails for an upload that an earlier try completed',
    file: 'worker/monitor/commitOutputs.ts',
    find: 'uploadError = error\n',
    put: 'throw error\n',
    seeds: 200,
    finds: /I6 /,
  },
  {
    name: 'the master playlist is put before the media playlists',
    file: 'worker/monitor/commitOutputs.ts',
    find: '...(await mapConcurrent(inStage(1), CONCURRENCY, (object) => putManifest(opened, object))),\n      ...(await mapConcurrent(inStage(2),',
    put: '...(await mapConcurrent(inStage(2), CONCURRENCY, (object) => putManifest(opened, object))),\n      ...(await mapConcurrent(inStage(1),',
    seeds: 50,
    finds: /I5/,
  },
  {
    name: 'a failed commit deletes the media playlists before the master playlist',
    file: 'worker/monitor/commitOutputs.ts',
    find: '[inStage(2), inStage(1), objects], etagsBefore)',
    put: '[objects, inStage(1), inStage(2)], etagsBefore)',
    from: 3600,
    seeds: 1500,
    finds: /I5/,
  },
  {
    name: 'a failed commit deletes nothing',
    file: 'worker/monitor/commitOutputs.ts',
    find: 'if (before && was === undefined) await',
    put: 'if (before && was !== undefined) await',
    from: 200,
    seeds: 1000,
    finds: /I7/,
  },
  {
    name: 'progress that was shown is not stored',
    file: 'worker/monitor/progressSnapshot.ts',
    find: 'if (this.#latest && this.#latest !== this.#saved && !isOver) await this.#save(this.#latest)',
    put: '',
    seeds: 100,
    finds: /I4/,
  },
  {
    name: 'a new follower is sent older progress behind newer',
    file: 'worker/monitor/eventStream.ts',
    find: ' && !listener.hasProgress',
    put: '',
    from: 1700,
    seeds: 1500,
    finds: /I4 .*events/,
  },
  {
    name: 'a follower is sent events again',
    file: 'worker/monitor/eventStream.ts',
    find: 'if (event.id <= listener.lastSentId) continue',
    put: '',
    seeds: 50,
    finds: /I11 .*event/,
  },
  {
    name: 'a stale attempt stores a commit record',
    file: 'worker/monitor/jobMonitor.ts',
    find: `if (attemptState === 'current' && this.currentAttempt.state)
      await this.commitRunner.storeRecord(`,
    put: `if (this.currentAttempt.state) await this.commitRunner.storeRecord(`,
    seeds: 300,
    finds: /I8/,
  },
  {
    name: 'no alarm is set before the removal of what a job left',
    file: 'worker/monitor/jobMonitor.ts',
    find: 'await this.ctx.storage.setAlarm(Date.now() + CLEANUP_RETRY_MS)',
    put: '',
    from: 1500,
    seeds: 1500,
    finds: /I8/,
  },
  {
    name: 'nothing is removed at the end of a first attempt',
    file: 'worker/scheduler/applyEvent.ts',
    find: `result.effects.includes('clean_up') && result.next.attempt > 0`,
    put: `result.effects.includes('clean_up') && result.next.attempt > 1`,
    seeds: 300,
    finds: /I8 /,
  },
  {
    name: 'a lease begins anew with each eviction of the monitor',
    file: 'worker/monitor/lease.ts',
    find: 'const heard = memory ?? (kept === null ? 0 : kept + saveIntervalMs(leaseMs))',
    put: 'const heard = memory ?? kept! * 0 + 1e15',
    seeds: 1000,
    finds: /I1 .*noticed/,
  },
  {
    name: 'progress starts anew with each attempt',
    file: 'worker/monitor/jobProgress.ts',
    find: 'transcoded: Math.max(before.transcoded, now.transcoded)',
    put: 'transcoded: now.transcoded',
    seeds: 5000,
    finds: /I4/,
  },
  {
    name: '100 before success',
    file: 'contract/api/publicStatus.ts',
    find: 'xfer_progress: percent(stored * transcoded, success)',
    put: 'xfer_progress: percent(stored * transcoded, success || transcoded >= 1)',
    seeds: 500,
    finds: /I4/,
  },
  {
    name: 'SQL: the guard does not name the fence',
    file: tasks,
    find: `WHERE id = ?1 AND state = ?9 AND attempt = ?10 AND lost = ?11
       RETURNING id`,
    put: `WHERE id = ?1 AND ?9 = ?9 AND ?10 = ?10 AND ?11 = ?11
       RETURNING id`,
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: a slot whose last start failed is offered first',
    file: tasks,
    find: 'FROM slots ORDER BY free_at, k`)',
    put: 'FROM slots ORDER BY -free_at, k`)',
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: a slot that another holds is claimed',
    file: tasks,
    find: 'AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?4 AND (task IS NOT NULL OR free_at > ?6))',
    put: '',
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: a batch that lost its race frees the slot of a running attempt',
    file: tasks,
    find: `WHERE task = ?1 AND attempt = ?2 AND \${attemptIsOver}\`,
    )`,
    put: `WHERE task = ?1 AND attempt = ?2\`,
    )`,
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: the job does not say what its task says',
    file: tasks,
    find: `finished_at = CASE WHEN ?4 THEN ?3 ELSE finished_at END`,
    put: `finished_at = CASE WHEN ?4 THEN ?3 ELSE ?3 END`,
    seeds: 50,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: waiting tasks start before their time',
    file: tasks,
    find: `WHERE waiting.not_before <= ?1 AND`,
    put: `WHERE ?1 = ?1 AND`,
    seeds: 200,
    finds: /model and SQL differ/,
    sql: true,
  },
]
