-- A page that plays the outputs of a job without a key. Its address carries the id and a signature; revoking it deletes the row.
CREATE TABLE shares (
  id TEXT PRIMARY KEY,
  job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL            -- never later than the outputs are removed
) WITHOUT ROWID;
CREATE INDEX shares_by_job ON shares (job, created_at);
CREATE INDEX shares_by_expiry ON shares (expires_at);
