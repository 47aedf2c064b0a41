-- What stored uploads may take, and whom the jobs of a key tell of their end.

ALTER TABLE accounts ADD COLUMN max_stored_upload_bytes INTEGER;  -- null = the deployment's default
ALTER TABLE api_keys ADD COLUMN max_stored_upload_bytes INTEGER;  -- of what the key itself sent; null = no bound but the account's
ALTER TABLE api_keys ADD COLUMN webhook_url TEXT;                 -- of jobs that name none; without its query
ALTER TABLE api_keys ADD COLUMN webhook_sealed TEXT;              -- the whole address, where it has a query

ALTER TABLE uploads ADD COLUMN key_id TEXT;                       -- which key sent it
ALTER TABLE uploads ADD COLUMN announced INTEGER NOT NULL DEFAULT 0;  -- bytes, while they are on their way
CREATE INDEX uploads_stored ON uploads (account, key_id, size, announced);
