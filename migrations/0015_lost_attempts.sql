-- Which attempts count towards the limit of lost ones (contract/task/lifecycle.ts).
ALTER TABLE tasks ADD COLUMN excused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN furthest REAL;
ALTER TABLE tasks ADD COLUMN evicted INTEGER NOT NULL DEFAULT 0;
