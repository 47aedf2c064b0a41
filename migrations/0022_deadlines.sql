-- When a task begins to come first in its account, in milliseconds since 1970: half of the time that its job's
-- deadline_seconds gives it is over. NULL = the job names no time.
ALTER TABLE tasks ADD COLUMN hurry_at INTEGER;
