-- Retry, deletion, and what happened to a job, told in order.

-- Written with each transition, in the statement that makes it: a JSON array of what contract/events.ts describes.
ALTER TABLE tasks ADD COLUMN timeline TEXT NOT NULL DEFAULT '[]';
-- Front-end id of the job that this one repeats. No reference: the first may be deleted.
ALTER TABLE jobs ADD COLUMN retry_of INTEGER;
-- Deleted by its owner: nobody sees it any more; the sweep removes what is left of it.
ALTER TABLE jobs ADD COLUMN deleted_at INTEGER;
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;
