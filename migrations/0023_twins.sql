-- 1 = the task is the second one at work on its part of a divided job, which another one began before: the first of the
-- two that stores the part ends the other.
ALTER TABLE tasks ADD COLUMN twin INTEGER NOT NULL DEFAULT 0;
