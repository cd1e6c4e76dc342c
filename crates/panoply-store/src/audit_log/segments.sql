-- A prefix of the chain that was moved into a file of its own. The header stays when the file is
-- pruned, so that the chain can be followed across the gap.
CREATE TABLE segment (
    first     INTEGER PRIMARY KEY,
    last      INTEGER NOT NULL,
    -- What the first row has for a predecessor, and the hash of the last row.
    previous  BLOB NOT NULL,
    hash      BLOB NOT NULL,
    rows      INTEGER NOT NULL,
    -- The latest time of its rows.
    newest    TEXT NOT NULL,
    file      TEXT NOT NULL,
    sha256    BLOB NOT NULL,
    sealed_at TEXT NOT NULL,
    pruned_at TEXT,
    -- The row of the audit log that records the pruning.
    pruned_by INTEGER
) STRICT;

CREATE TRIGGER segments_are_never_removed BEFORE DELETE ON segment
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER segments_are_pruned_once BEFORE UPDATE ON segment
WHEN old.pruned_at IS NOT NULL OR new.pruned_at IS NULL OR new.first <> old.first
    OR new.last <> old.last OR new.previous <> old.previous OR new.hash <> old.hash
    OR new.rows <> old.rows OR new.sha256 <> old.sha256
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

DROP TRIGGER audit_rows_are_never_removed;

CREATE TRIGGER audit_rows_are_removed_when_sealed BEFORE DELETE ON audit
WHEN old.sequence > coalesce((SELECT last FROM segment ORDER BY first DESC LIMIT 1), 0)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
