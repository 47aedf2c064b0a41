-- A dry run is a job whose single task plans. SQLite cannot change a CHECK, so the table is made anew with the same rows.
-- Nothing refers to `tasks`; what it refers to stays, so no foreign key is broken on the way.

CREATE TABLE tasks_with_plans (
  id TEXT PRIMARY KEY,                   -- `<job_id>-<n>`
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transcode', 'plan')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'committing', 'completed', 'failed', 'cancelled')),
  attempt INTEGER NOT NULL DEFAULT 0,    -- the fence: the number of the current attempt
  lost INTEGER NOT NULL DEFAULT 0,       -- attempts that ended without a result
  slot INTEGER,
  plan TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL,           -- a queued task waits until then
  lease_until INTEGER,                   -- of `starting` only; a running attempt's lease lives in the monitor
  updated_at INTEGER NOT NULL
);
INSERT INTO tasks_with_plans
  (id, job, account, kind, state, attempt, lost, slot, plan, priority, not_before, lease_until, updated_at)
  SELECT id, job, account, kind, state, attempt, lost, slot, plan, priority, not_before, lease_until, updated_at FROM tasks;
DROP TABLE tasks;
ALTER TABLE tasks_with_plans RENAME TO tasks;
CREATE INDEX tasks_by_job ON tasks (job);
CREATE INDEX tasks_by_state ON tasks (state, updated_at);

-- What a dry run found: null until it has ended well, and for every other job.
ALTER TABLE jobs ADD COLUMN estimate TEXT;
