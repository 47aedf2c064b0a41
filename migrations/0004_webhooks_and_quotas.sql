-- Webhooks, and what an account or a key may use.

-- An account without a row has the deployment's defaults.
CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  max_active_jobs INTEGER,               -- jobs that have not ended; null = the default
  max_running INTEGER,                   -- transcoders at a time; null = as many as are free
  weight REAL NOT NULL DEFAULT 1,        -- of 2 slots and two accounts with weights 1 and 3, the second gets three in four
  webhook_generation INTEGER NOT NULL DEFAULT 0,
  webhook_rotated_at INTEGER
) WITHOUT ROWID;

ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER;
ALTER TABLE api_keys ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;

ALTER TABLE jobs ADD COLUMN webhook INTEGER NOT NULL DEFAULT 0;  -- whether its end is told to anyone
CREATE INDEX jobs_active ON jobs (account) WHERE finished_at IS NULL;

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,                   -- `webhook-id`: the same for every try
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  tries INTEGER NOT NULL DEFAULT 0,      -- since it was made or last replayed
  next_at INTEGER NOT NULL,              -- of a pending one
  log TEXT NOT NULL DEFAULT '[]',        -- the last tries
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (job, event)
) WITHOUT ROWID;
CREATE INDEX webhooks_due ON webhooks (state, next_at);
