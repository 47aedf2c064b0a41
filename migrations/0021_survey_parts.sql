-- Of a divided job: how many of its parts survey the source before it is divided for good. They are its first parts.
ALTER TABLE tasks ADD COLUMN survey_parts INTEGER NOT NULL DEFAULT 0;
