-- Papers that the user imported, as PubMed describes them. Lists are JSON arrays of text.
CREATE TABLE paper (
  pmid TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  abstract TEXT NOT NULL,
  authors TEXT NOT NULL,
  journal TEXT NOT NULL,
  year INTEGER,
  mesh TEXT NOT NULL,
  publication_types TEXT NOT NULL,
  doi TEXT,
  languages TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Grows with every import that changes something, so that other processes know.
CREATE TABLE shelf (version INTEGER NOT NULL) STRICT;
INSERT INTO shelf VALUES (0);
