-- Times are milliseconds since 1970 unless a name says otherwise. JSON columns hold what the contract's schemas describe.

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,                   -- the public half of `prefix_id.secret`
  account TEXT NOT NULL,
  label TEXT NOT NULL,
  scopes TEXT NOT NULL,                  -- comma-separated
  hash TEXT NOT NULL,                    -- HMAC of the whole key; the key itself is shown once and never stored
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  expires_at INTEGER,                    -- null = never
  requests_per_minute INTEGER,
  priority INTEGER NOT NULL DEFAULT 0,
  max_stored_upload_bytes INTEGER,       -- what the key itself sent; null = no bound but the account's
  webhook_url TEXT,                      -- for jobs that name none; without its query
  webhook_sealed TEXT                    -- the whole address, where it has a query
);

-- An account without a row has the deployment's defaults.
CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  max_active_jobs INTEGER,               -- jobs that have not ended; null = the default
  max_running INTEGER,                   -- transcoders at a time; null = as many as are free
  weight REAL NOT NULL DEFAULT 1,        -- of 2 slots and two accounts with weights 1 and 3, the second gets three in four
  webhook_generation INTEGER NOT NULL DEFAULT 0,
  webhook_rotated_at INTEGER,
  max_stored_upload_bytes INTEGER,       -- null = the deployment's default
  spend_cap INTEGER,                     -- in millionths of the currency; null = no cap
  spend_webhook_url TEXT
) WITHOUT ROWID;

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
  estimate TEXT,                         -- what a dry run found; null until it has ended well, and for every other job
  source TEXT,                           -- the source as it was probed (a SourceReport)
  poster TEXT,                           -- the still picture of the source in the own store: {attempt, width, height}
  priority INTEGER NOT NULL DEFAULT 0,
  webhook INTEGER NOT NULL DEFAULT 0,    -- whether its end is told to anyone
  retry_of INTEGER,                      -- front-end id of the job that this one repeats. No reference: it may be deleted
  input_name TEXT,                       -- the source's name as people know it
  sought TEXT NOT NULL DEFAULT '',       -- what a search looks through (worker/db/searchText.ts)
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  updated_at INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  deleted_at INTEGER,                    -- nobody sees it any more; the sweep removes what is left of it
  unlisted INTEGER NOT NULL DEFAULT 0    -- 1 = a dry run that is in no list, and is deleted soon after its end
);
-- Each index holds what its question is about, not every job there ever was: what has ended is most of the table.
CREATE INDEX jobs_active ON jobs (account) WHERE finished_at IS NULL;
CREATE INDEX jobs_unfinished ON jobs (state, deadline_at) WHERE finished_at IS NULL;
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;
-- What the sweep has yet to remove; it asks every minute. After jobs_by_end: of two that serve, SQLite takes the newer.
CREATE INDEX jobs_sealed ON jobs (finished_at) WHERE sealed IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX jobs_with_outputs ON jobs (finished_at) WHERE outputs IS NOT NULL;
-- When an account was last served: accounts take turns where there is a single slot (worker/db/tasks.ts).
CREATE INDEX jobs_started ON jobs (account, started_at) WHERE started_at IS NOT NULL;
-- A list or a search chooses its page from this index alone: a row of `jobs` has the whole configuration and all outputs.
-- What a search looks through comes last: with metadata in it, it is the only long one.
CREATE INDEX jobs_listed ON jobs (account, id DESC, state, created_at, job_id, deleted_at, sought) WHERE unlisted = 0;
CREATE INDEX jobs_unlisted ON jobs (finished_at) WHERE unlisted = 1;

CREATE TABLE job_metadata (
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job, name)
) WITHOUT ROWID;
CREATE INDEX job_metadata_by_value ON job_metadata (account, name, value, job);

-- One task a job, number 0. That of a long job is divided: it waits as `divided` while further tasks of the kind `part`
-- make its outputs.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,                   -- `<job_id>-<n>`
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('transcode', 'plan', 'part')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'divided', 'committing', 'completed', 'failed', 'cancelled')),
  attempt INTEGER NOT NULL DEFAULT 0,    -- the fence: the number of the current attempt
  lost INTEGER NOT NULL DEFAULT 0,       -- attempts that ended without a result
  excused INTEGER NOT NULL DEFAULT 0,    -- those of them that do not count towards the limit (contract/task/lifecycle.ts)
  furthest REAL,
  evicted INTEGER NOT NULL DEFAULT 0,
  starts_failed INTEGER NOT NULL DEFAULT 0,        -- in a row: they back off, and are told (events, status, metrics, /health)
  starts_failed_total INTEGER NOT NULL DEFAULT 0,  -- all of them, for /metrics
  slot INTEGER,
  plan TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL,           -- a queued task waits until then
  hurry_at INTEGER,                      -- when it begins to come first in its account; null = its job names no deadline_seconds
  lease_until INTEGER,                   -- of `starting` only; a running attempt's lease lives in the monitor
  updated_at INTEGER NOT NULL,
  timeline TEXT NOT NULL DEFAULT '[]',   -- written with each transition: what contract/api/events.ts describes
  main TEXT,                             -- of a part: its main task
  part INTEGER,                          -- of a part: its position, from 0, which is also the order of starts
  predicted_seconds REAL,                -- of a part: that one transcoder is predicted to take for it; null = not predicted
  parts INTEGER NOT NULL DEFAULT 0,      -- of a main task: how many parts its job has; 0 = it is not divided
  survey_parts INTEGER NOT NULL DEFAULT 0  -- of a main task: how many of its parts, the first ones, survey the source
);
CREATE INDEX tasks_by_job ON tasks (job);
-- The queue in its order, so that a place in it is counted without reading the tasks.
CREATE INDEX tasks_waiting ON tasks (priority, job) WHERE state = 'queued';
CREATE INDEX tasks_at_work ON tasks (updated_at) WHERE state IN ('starting', 'running', 'divided', 'committing');
CREATE INDEX tasks_by_failed_starts ON tasks (state) WHERE starts_failed > 0;
CREATE INDEX tasks_by_main ON tasks (main, part) WHERE main IS NOT NULL;

-- Capacity is data: k < MAX_SLOTS is the container `slot-k` or the k-th of TRANSCODER_URLS.
CREATE TABLE slots (
  k INTEGER PRIMARY KEY,
  task TEXT UNIQUE,                      -- null while the slot rests after a failed start
  attempt INTEGER,
  account TEXT,
  free_at INTEGER NOT NULL,              -- of a resting slot
  -- Of a free slot: the divided job (its main task) whose parts its transcoder cannot make, because its ffmpeg is of another
  -- build. Forgotten with the row, when another task has used the slot.
  unfit_for TEXT
);

-- Transcoders that registered themselves (docs/operating.md). A row keeps its slot until the transcoder is forgotten.
CREATE TABLE transcoders (
  slot INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  instance TEXT NOT NULL,                -- of the process: another one with each start
  url TEXT NOT NULL,
  protocol INTEGER NOT NULL,
  version TEXT NOT NULL,
  ffmpeg TEXT,
  state TEXT NOT NULL CHECK (state IN ('ready', 'draining', 'unreachable', 'incompatible')),
  problem TEXT,
  registered_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL               -- the last registration
);

CREATE TABLE uploads (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  sought TEXT NOT NULL,                  -- the name as a search compares it (worker/db/searchText.ts)
  content_type TEXT NOT NULL,
  size INTEGER,
  announced INTEGER NOT NULL DEFAULT 0,  -- bytes, while they are on their way
  etag TEXT,
  state TEXT NOT NULL CHECK (state IN ('receiving', 'ready')),
  key_id TEXT,                           -- which key sent it
  token TEXT,                            -- which token brought it; null = an API key did
  token_name TEXT,                       -- its name, which outlives the token's row
  last_job INTEGER,                      -- the newest job that has it as an input. No reference: it may be deleted
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX uploads_by_expiry ON uploads (expires_at);
CREATE INDEX uploads_by_account ON uploads (account, number DESC);
CREATE INDEX uploads_stored ON uploads (account, key_id, size, announced);
CREATE INDEX uploads_by_token ON uploads (account, token, number DESC) WHERE token IS NOT NULL;

-- Tokens with which a visitor's page uploads. One without a row is worthless: revoking and expiring are deletions. The token
-- itself is not stored, only signed.
CREATE TABLE upload_tokens (
  id TEXT PRIMARY KEY,                   -- the public half, `ut_…`
  account TEXT NOT NULL,
  key_id TEXT NOT NULL,                  -- the API key that issued it: its quotas count, and the token ends with it
  key_hash TEXT,                         -- of a key of the configuration, which has no row that could be revoked
  name TEXT NOT NULL,
  max_bytes INTEGER NOT NULL,            -- of each file
  max_files INTEGER NOT NULL,
  files INTEGER NOT NULL DEFAULT 0,      -- uploads that it began, without those that failed or were given up
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX upload_tokens_by_account ON upload_tokens (account);
CREATE INDEX upload_tokens_by_expiry ON upload_tokens (expires_at);

-- Counted by the database itself, so that no way of ending an upload is forgotten. What was stored stays counted when it is
-- deleted: a token is for so many files, not for so many at a time.
CREATE TRIGGER upload_token_used AFTER INSERT ON uploads WHEN NEW.token IS NOT NULL
BEGIN
  UPDATE upload_tokens SET files = files + 1 WHERE id = NEW.token;
END;
CREATE TRIGGER upload_token_given_back AFTER DELETE ON uploads WHEN OLD.token IS NOT NULL AND OLD.state = 'receiving'
BEGIN
  UPDATE upload_tokens SET files = files - 1 WHERE id = OLD.token;
END;

CREATE TABLE presets (
  id TEXT PRIMARY KEY,                   -- `pre_…`
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,                  -- the name as it is compared: two that differ in case alone are one
  description TEXT NOT NULL,
  job TEXT NOT NULL,                     -- members of a job's body, as they were given
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (account, folded)
) WITHOUT ROWID;

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

-- A page that plays the outputs of a job without a key. Its address carries the id and a signature; revoking it deletes the row.
CREATE TABLE shares (
  id TEXT PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,           -- never later than the outputs are removed
  password_hash TEXT                     -- null = anyone who has the address
) WITHOUT ROWID;
CREATE INDEX shares_by_job ON shares (job, created_at);
CREATE INDEX shares_by_expiry ON shares (expires_at);

-- What each account used, by UTC month. A quantity is a whole number: milliseconds, bytes or a count. Each has the price at
-- which it was used, in millionths of the currency for an hour, a gigabyte or a piece, so that a new price list does not
-- change months that have passed. '' as currency = there was no price list.
CREATE TABLE usage (
  account TEXT NOT NULL,
  month TEXT NOT NULL,
  item TEXT NOT NULL,
  class TEXT NOT NULL,
  currency TEXT NOT NULL,
  price INTEGER NOT NULL,
  quantity INTEGER NOT NULL,
  PRIMARY KEY (account, month, item, class, currency, price)
) WITHOUT ROWID;
CREATE INDEX usage_by_month ON usage (month, account);

-- Webhooks about a spend cap: one for each month, cap and percentage.
CREATE TABLE spend_notices (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  month TEXT NOT NULL,
  percent INTEGER NOT NULL,
  cap INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  currency TEXT NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  log TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (account, month, percent, cap)
);
CREATE INDEX spend_notices_pending ON spend_notices (next_at) WHERE state = 'pending';

-- When something that nobody waits for was last seen: the cron's sweep, and the probes of a diagnosis while it runs.
CREATE TABLE marks (
  name TEXT PRIMARY KEY,
  made_at INTEGER NOT NULL,              -- of the row
  seen_at INTEGER                        -- null = not yet
) WITHOUT ROWID;

-- Totals of the counters and histograms of /metrics: a JSON object of series and whole numbers for each scope. One row
-- is written for each counted change, however many series it adds to.
CREATE TABLE metric_totals (
  scope TEXT PRIMARY KEY,
  series TEXT NOT NULL
) WITHOUT ROWID;
