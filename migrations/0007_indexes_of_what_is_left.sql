-- Each index holds what its question is about, not every job there ever was: what has ended is most of the table.

-- The queue in its order, so that a place in it is counted without reading the tasks.
DROP INDEX IF EXISTS tasks_by_state;
CREATE INDEX tasks_waiting ON tasks (priority, job) WHERE state = 'queued';
CREATE INDEX tasks_at_work ON tasks (updated_at) WHERE state IN ('starting', 'running', 'committing');

DROP INDEX IF EXISTS jobs_by_state;
-- Databases of the first day have this one instead: 0001 was changed after it had been applied.
DROP INDEX IF EXISTS jobs_open;
CREATE INDEX jobs_unfinished ON jobs (state, deadline_at) WHERE finished_at IS NULL;

DROP INDEX IF EXISTS jobs_by_end;
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;
-- What the sweep has yet to remove; it asks every minute. Behind jobs_by_end: of two that serve, SQLite takes the newer.
CREATE INDEX jobs_sealed ON jobs (finished_at) WHERE sealed IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX jobs_with_outputs ON jobs (finished_at) WHERE outputs IS NOT NULL;
