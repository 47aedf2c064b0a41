-- Starts of a task in a row that failed: they back off, and are told (events, status, metrics, /health).
ALTER TABLE tasks ADD COLUMN starts_failed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_by_failed_starts ON tasks (state) WHERE starts_failed > 0;
