-- All failed starts of a task, for /metrics: tasks.starts_failed counts those in a row.
ALTER TABLE tasks ADD COLUMN starts_failed_total INTEGER NOT NULL DEFAULT 0;
