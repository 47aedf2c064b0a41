-- When an account was last served: accounts take turns where there is a single slot (worker/db/tasks.ts).
CREATE INDEX jobs_started ON jobs (account, started_at) WHERE started_at IS NOT NULL;
