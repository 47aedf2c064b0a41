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
-- In millionths of the currency; NULL = no cap.
ALTER TABLE accounts ADD COLUMN spend_cap INTEGER;
ALTER TABLE accounts ADD COLUMN spend_webhook_url TEXT;
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
