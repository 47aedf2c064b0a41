-- Transcoders that registered themselves (docs/operating.md). A row keeps its slot until the transcoder is forgotten.
CREATE TABLE transcoders (
  slot INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  instance TEXT NOT NULL,                -- of the process: another one with each start
  url TEXT NOT NULL,
  protocol INTEGER NOT NULL,
  version TEXT NOT NULL,
  ffmpeg TEXT,
  state TEXT NOT NULL CHECK (state IN ('ready', 'draining', 'unreachable', 'incompatible')),
  problem TEXT,
  registered_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL               -- the last registration
);
