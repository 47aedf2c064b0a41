// In charge of: the migrations that this version needs. A test compares the list with migrations/
// (test/node/docs/pages.test.ts).

export const REQUIRED_MIGRATIONS = [
  '0001_initial.sql',
  '0002_dry_run.sql',
  '0003_operations.sql',
  '0004_webhooks_and_quotas.sql',
  '0005_search.sql',
  '0006_key_quotas.sql',
  '0007_indexes_of_what_is_left.sql',
  '0008_turns.sql',
  '0009_failed_starts.sql',
  '0010_marks.sql',
  '0011_shares.sql',
  '0012_upload_tokens_presets_metadata.sql',
  '0013_facts.sql',
  '0014_failed_start_count.sql',
  '0015_lost_attempts.sql',
  '0016_metric_totals.sql',
  '0017_transcoders.sql',
  '0018_usage.sql',
  '0019_parts.sql',
  '0020_other_builds.sql',
  '0021_survey_parts.sql',
  '0022_deadlines.sql',
] as const
