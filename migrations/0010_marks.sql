-- When something that nobody waits for was last seen: the cron's sweep, and the probes of a diagnosis while it runs.
CREATE TABLE marks (
  name TEXT PRIMARY KEY,
  made_at INTEGER NOT NULL,              -- of the row
  seen_at INTEGER                        -- null = not yet
) WITHOUT ROWID;
