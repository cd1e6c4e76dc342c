-- What was taken out of a user's documents. A job adds all of its documents or none, and takes
-- them away together. Lists are JSON arrays of text; places are counted in characters of a page.
CREATE TABLE ingest_job (
  id TEXT PRIMARY KEY,
  -- The contract's words: queued, running, done, error.
  status TEXT NOT NULL,
  -- More than those can say, such as cancelled, rolled_back, interrupted.
  detail TEXT,
  dry_run INTEGER NOT NULL,
  -- What was asked for, as JSON.
  request TEXT NOT NULL,
  done_pages INTEGER NOT NULL DEFAULT 0,
  all_pages INTEGER NOT NULL DEFAULT 0,
  -- What was or would be added, as JSON.
  report TEXT,
  error TEXT,
  -- Set by whoever wants it to stop.
  cancel INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL,
  started TEXT,
  ended TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE ingest_log (
  job TEXT NOT NULL REFERENCES ingest_job (id),
  number INTEGER NOT NULL,
  at TEXT NOT NULL,
  line TEXT NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE ingest_document (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  lang TEXT NOT NULL,
  pages INTEGER NOT NULL,
  job TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ingest_document_job ON ingest_document (job);
CREATE TABLE ingest_chunk (
  document TEXT NOT NULL REFERENCES ingest_document (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  page INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  lang TEXT NOT NULL,
  reader TEXT NOT NULL,
  text TEXT NOT NULL,
  about TEXT NOT NULL,
  PRIMARY KEY (document, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE ingest_fact (
  document TEXT NOT NULL REFERENCES ingest_document (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  -- The whole fact as JSON, as `ingest::Fact` writes it.
  fact TEXT NOT NULL,
  PRIMARY KEY (document, number)
) STRICT, WITHOUT ROWID;
