-- A person or a workspace. `subject` is the principal of a token's subject, or the key of a
-- workspace named in tokens. Times are RFC 3339 in UTC.
CREATE TABLE tenant (
    id       TEXT PRIMARY KEY,
    kind     TEXT NOT NULL CHECK (kind IN ('person', 'workspace')),
    name     TEXT NOT NULL,
    subject  TEXT UNIQUE,
    operator INTEGER NOT NULL DEFAULT 0,
    created  TEXT NOT NULL,
    disabled TEXT,
    erasing  TEXT,
    UNIQUE (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
    person    TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    workspace TEXT NOT NULL REFERENCES tenant (id) ON DELETE CASCADE,
    PRIMARY KEY (person, workspace)
) STRICT, WITHOUT ROWID;

-- NULL is the local tenant: keys from before users existed act on it.
ALTER TABLE api_key ADD COLUMN person TEXT REFERENCES tenant (id);
ALTER TABLE api_key ADD COLUMN workspace TEXT REFERENCES tenant (id);
