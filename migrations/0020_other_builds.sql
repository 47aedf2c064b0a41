-- Of a free slot: the divided job (its main task) whose parts its transcoder cannot make, because its ffmpeg is of another
-- build. Forgotten with the row, when another task has used the slot.
ALTER TABLE slots ADD COLUMN unfit_for TEXT;
