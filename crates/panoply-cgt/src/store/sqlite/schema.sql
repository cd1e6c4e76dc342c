-- Portfolios of one tenant. `entry.change` is the change that made a transaction what it is. `image`
-- is the transaction before a change as JSON, null when the change added it, with `entry.change`
-- before and after; null after a change that removed it.
CREATE TABLE portfolio (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL COLLATE NOCASE UNIQUE,
    created     INTEGER NOT NULL,
    next_entry  INTEGER NOT NULL,
    next_change INTEGER NOT NULL
) STRICT;
CREATE TABLE account (
    portfolio TEXT NOT NULL REFERENCES portfolio (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    wrapper   TEXT NOT NULL,
    PRIMARY KEY (portfolio, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
    portfolio TEXT NOT NULL REFERENCES portfolio (id) ON DELETE CASCADE,
    id        INTEGER NOT NULL,
    account   TEXT NOT NULL,
    line      TEXT NOT NULL,
    file      TEXT,
    file_line INTEGER NOT NULL,
    broker    TEXT,
    broker_id TEXT,
    isin      TEXT,
    key       TEXT,
    change    INTEGER NOT NULL,
    PRIMARY KEY (portfolio, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE change (
    portfolio TEXT NOT NULL REFERENCES portfolio (id) ON DELETE CASCADE,
    id        INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    summary   TEXT NOT NULL,
    undoes    INTEGER,
    undone    INTEGER NOT NULL,
    PRIMARY KEY (portfolio, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE image (
    portfolio TEXT NOT NULL REFERENCES portfolio (id) ON DELETE CASCADE,
    change    INTEGER NOT NULL,
    entry     INTEGER NOT NULL,
    before    TEXT,
    before_change INTEGER,
    after_change  INTEGER,
    PRIMARY KEY (portfolio, change, entry)
) STRICT, WITHOUT ROWID;
CREATE TABLE version (number INTEGER NOT NULL) STRICT;
INSERT INTO version (number) VALUES (0);
