-- What makes papers and documents searchable: made from them, and made again when it is not of
-- this program's making. Nothing here is the only copy of anything.

-- What a text's terms and vectors depend on, as `search::Workings` tells it.
CREATE TABLE search_form (learnt_from BLOB NOT NULL) STRICT;

-- A paper that does not ship, or a piece of a document.
CREATE TABLE search_document (
  -- Never given twice: a catalogue that another process has in memory names documents by it.
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  -- A PMID, or a document's id, # and a number.
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('paper', 'chunk')),
  year INTEGER,
  words REAL NOT NULL,
  trigrams REAL NOT NULL,
  vector BLOB NOT NULL
) STRICT;

-- Every word and trigram that any of them has, by its number in `text::terms`.
CREATE TABLE search_term (
  place INTEGER PRIMARY KEY AUTOINCREMENT,
  number INTEGER NOT NULL UNIQUE,
  documents INTEGER NOT NULL
) STRICT;

-- How often each term stands in a document: see `store/bag.rs`.
CREATE TABLE search_bag (row INTEGER PRIMARY KEY, bag BLOB NOT NULL) STRICT;

-- What a piece of a document is about.
CREATE TABLE search_about (
  id TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (id, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_about_row ON search_about (row);

-- From terms to documents. The texts are places of terms, each once: who has a word is all that
-- candidates need, and the bags say how often.
CREATE VIRTUAL TABLE search_index USING fts5(
  words, trigrams,
  content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Postings are gathered in memory up to this many bytes before they are written.
INSERT INTO search_index (search_index, rank) VALUES ('hashsize', 33554432);

-- What has changed since. A change and its note are one transaction.
CREATE TABLE search_pending (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO search_pending SELECT pmid FROM paper;
INSERT INTO search_pending SELECT document || '#' || number FROM ingest_chunk;
-- The rule of the statement that fires a trigger would replace `OR IGNORE` in it.
CREATE TRIGGER search_paper_added AFTER INSERT ON paper BEGIN
  INSERT INTO search_pending SELECT new.pmid
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = new.pmid);
END;
CREATE TRIGGER search_paper_changed AFTER UPDATE ON paper BEGIN
  INSERT INTO search_pending SELECT new.pmid
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = new.pmid);
END;
CREATE TRIGGER search_paper_removed AFTER DELETE ON paper BEGIN
  INSERT INTO search_pending SELECT old.pmid
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = old.pmid);
END;
CREATE TRIGGER search_chunk_added AFTER INSERT ON ingest_chunk BEGIN
  INSERT INTO search_pending SELECT new.document || '#' || new.number
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = new.document || '#' || new.number);
END;
CREATE TRIGGER search_chunk_changed AFTER UPDATE ON ingest_chunk BEGIN
  INSERT INTO search_pending SELECT new.document || '#' || new.number
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = new.document || '#' || new.number);
END;
CREATE TRIGGER search_chunk_removed AFTER DELETE ON ingest_chunk BEGIN
  INSERT INTO search_pending SELECT old.document || '#' || old.number
    WHERE NOT EXISTS (SELECT 1 FROM search_pending WHERE id = old.document || '#' || old.number);
END;
