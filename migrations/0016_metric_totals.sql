-- Totals of the counters and histograms of /metrics: a JSON object of series and whole numbers for each scope. One row
-- is written for each counted change, however many series it adds to.
CREATE TABLE metric_totals (
  scope TEXT PRIMARY KEY,
  series TEXT NOT NULL
) WITHOUT ROWID;
