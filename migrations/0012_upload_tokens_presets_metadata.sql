-- Tokens that let a visitor's page upload, saved presets, and names and values of a client's own on jobs.

-- A token without a row is worthless: revoking and expiring are deletions. The token itself is not stored, only signed.
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

ALTER TABLE uploads ADD COLUMN token TEXT;       -- which token brought it; null = an API key did
ALTER TABLE uploads ADD COLUMN token_name TEXT;  -- its name, which outlives the token's row
CREATE INDEX uploads_by_token ON uploads (account, token, number DESC) WHERE token IS NOT NULL;

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

CREATE TABLE job_metadata (
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (job, name)
) WITHOUT ROWID;
CREATE INDEX job_metadata_by_value ON job_metadata (account, name, value, job);

-- What a search looks through comes last: with metadata in it, it is the only long one.
DROP INDEX jobs_listed;
CREATE INDEX jobs_listed ON jobs (account, id DESC, state, created_at, job_id, deleted_at, sought);
