-- Times are milliseconds since 1970 unless a name says otherwise. JSON columns hold what the contract's schemas describe.

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,              -- the public half of `prefix_id.secret`
  account TEXT NOT NULL,
  label TEXT NOT NULL,
  scopes TEXT NOT NULL,             -- comma-separated
  hash TEXT NOT NULL,               -- HMAC of the whole key; the key itself is shown once and never stored
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
);

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- front-end id, `_auto_generated_id_`
  job_id TEXT NOT NULL UNIQUE,           -- backend id, `status.job_id`
  account TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'committing', 'completed', 'failed', 'cancelled')),
  config TEXT NOT NULL,                  -- as returned; credentials are redacted before they come here
  sealed TEXT,                           -- envelope with credentials and full addresses; null once it is no longer needed
  warnings TEXT NOT NULL,
  error TEXT,
  outputs TEXT,                          -- set at the commit
  progress TEXT,                         -- last figures, set at the end; while running they live in the monitor
  priority INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  updated_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL
);
CREATE INDEX jobs_by_account ON jobs (account, id DESC);
CREATE INDEX jobs_by_state ON jobs (state, deadline_at);
CREATE INDEX jobs_by_end ON jobs (finished_at);

-- One task a job today; long jobs will be cut into several, which is why everything behind the API speaks of tasks.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,                   -- `<job_id>-<n>`
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transcode')),
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
CREATE INDEX tasks_by_job ON tasks (job);
CREATE INDEX tasks_by_state ON tasks (state, updated_at);

-- Capacity is data: k < MAX_SLOTS is the container `slot-k` or the k-th of TRANSCODER_URLS.
CREATE TABLE slots (
  k INTEGER PRIMARY KEY,
  task TEXT UNIQUE,                      -- null while the slot rests after a failed start
  attempt INTEGER,
  account TEXT,
  free_at INTEGER NOT NULL               -- of a resting slot
);

CREATE TABLE uploads (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size INTEGER,
  etag TEXT,
  state TEXT NOT NULL CHECK (state IN ('receiving', 'ready')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX uploads_by_expiry ON uploads (expires_at);

CREATE TABLE idempotency (
  account TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  job_id TEXT NOT NULL,
  warnings TEXT NOT NULL,                -- of the first answer, which a repetition is given again
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
