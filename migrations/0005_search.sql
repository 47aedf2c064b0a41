-- Finding jobs by what they are of, and the list of an account's uploads.

ALTER TABLE jobs ADD COLUMN input_name TEXT;                -- of the source, as people know it; null = read it off the configuration
ALTER TABLE jobs ADD COLUMN sought TEXT NOT NULL DEFAULT '';  -- what a search looks through (worker/db/searchText.ts)
UPDATE jobs SET sought = lower(coalesce(json_extract(config, '$.input'), ''));

-- A list or a search chooses its page from this index alone: a row of `jobs` has the whole configuration and all outputs.
CREATE INDEX jobs_listed ON jobs (account, id DESC, state, created_at, job_id, sought, deleted_at);
DROP INDEX jobs_by_account;

CREATE INDEX uploads_by_account ON uploads (account, number DESC);
