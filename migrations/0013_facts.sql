-- The source as it was probed (a SourceReport), and the still picture of it in the own store: {attempt, width, height}.
ALTER TABLE jobs ADD COLUMN source TEXT;
ALTER TABLE jobs ADD COLUMN poster TEXT;
