-- One row a call. `hash` is over all other columns, `previous` is the hash of the row before.
CREATE TABLE audit (
    sequence     INTEGER PRIMARY KEY,
    at           TEXT NOT NULL,
    tool         TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    partition    TEXT NOT NULL,
    agent_id     TEXT NOT NULL,
    trace_id     TEXT NOT NULL,
    in_hash      TEXT NOT NULL,
    out_hash     TEXT NOT NULL,
    latency_ms   INTEGER NOT NULL,
    -- Decimal: it has 64 bits without a sign, which an INTEGER has not.
    seed         TEXT NOT NULL,
    status       TEXT NOT NULL,
    error_code   TEXT,
    mutation     INTEGER NOT NULL,
    previous     BLOB NOT NULL,
    hash         BLOB NOT NULL
) STRICT;

CREATE INDEX audit_by_trace ON audit (trace_id);

CREATE TRIGGER audit_rows_are_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_rows_are_never_removed BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- Where the chain ends, written with each batch: without it, rows cut off the end leave no trace.
CREATE TABLE head (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    sequence INTEGER NOT NULL,
    hash     BLOB NOT NULL
) STRICT;

CREATE TRIGGER head_only_moves_on BEFORE UPDATE ON head
WHEN new.sequence <= old.sequence
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER head_is_never_removed BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
