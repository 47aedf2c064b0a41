-- A long job is divided: its main task (number 0) waits as `divided` while further tasks of the kind `part` make its
-- outputs. SQLite cannot change a CHECK, so the table is made anew with the same rows (as in 0002).

CREATE TABLE tasks_with_parts (
  id TEXT PRIMARY KEY,                   -- `<job_id>-<n>`
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transcode', 'plan', 'part')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'divided', 'committing', 'completed', 'failed', 'cancelled')),
  attempt INTEGER NOT NULL DEFAULT 0,    -- the fence: the number of the current attempt
  lost INTEGER NOT NULL DEFAULT 0,       -- attempts that ended without a result
  slot INTEGER,
  plan TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL,           -- a queued task waits until then
  lease_until INTEGER,                   -- of `starting` only; a running attempt's lease lives in the monitor
  updated_at INTEGER NOT NULL,
  timeline TEXT NOT NULL DEFAULT '[]',
  starts_failed INTEGER NOT NULL DEFAULT 0,
  starts_failed_total INTEGER NOT NULL DEFAULT 0,
  excused INTEGER NOT NULL DEFAULT 0,
  furthest REAL,
  evicted INTEGER NOT NULL DEFAULT 0,
  main TEXT,                             -- of a part: its main task
  part INTEGER,                          -- of a part: its position, from 0, which is also the order of starts
  parts INTEGER NOT NULL DEFAULT 0       -- of a main task: how many parts its job has; 0 = it is not divided
);
INSERT INTO tasks_with_parts
  (id, job, account, kind, state, attempt, lost, slot, plan, priority, not_before, lease_until, updated_at, timeline,
   starts_failed, starts_failed_total, excused, furthest, evicted)
  SELECT id, job, account, kind, state, attempt, lost, slot, plan, priority, not_before, lease_until, updated_at, timeline,
   starts_failed, starts_failed_total, excused, furthest, evicted FROM tasks;
DROP TABLE tasks;
ALTER TABLE tasks_with_parts RENAME TO tasks;
CREATE INDEX tasks_by_job ON tasks (job);
CREATE INDEX tasks_waiting ON tasks (priority, job) WHERE state = 'queued';
CREATE INDEX tasks_at_work ON tasks (updated_at) WHERE state IN ('starting', 'running', 'divided', 'committing');
CREATE INDEX tasks_by_failed_starts ON tasks (state) WHERE starts_failed > 0;
CREATE INDEX tasks_by_main ON tasks (main, part) WHERE main IS NOT NULL;
