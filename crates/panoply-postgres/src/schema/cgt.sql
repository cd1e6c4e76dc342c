-- Portfolios. The columns are those of the SQLite store, by name; `row_version` is the version of the
-- collection that wrote the row last, so that a replica reads only what has changed since its copy.
CREATE SCHEMA cgt;

-- Locked by every change: the writes of a tenant are one after the other.
CREATE TABLE cgt.collection (
    tenant  text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL
);

-- Rows that were deleted, for copies that still have them. `key` is a JSON array.
CREATE TABLE cgt.removed (
    tenant      text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    of_table    text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, row_version, of_table, key)
);

CREATE TABLE cgt.portfolio (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" text COLLATE "C" NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "created" bigint NOT NULL,
    "next_entry" bigint NOT NULL,
    "next_change" bigint NOT NULL,
    PRIMARY KEY (tenant, "id")
);
CREATE INDEX portfolio_by_version ON cgt.portfolio (tenant, row_version);

CREATE TABLE cgt.account (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "portfolio" text COLLATE "C" NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "wrapper" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "portfolio", "name")
);
CREATE INDEX account_by_version ON cgt.account (tenant, row_version);

CREATE TABLE cgt.entry (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "portfolio" text COLLATE "C" NOT NULL,
    "id" bigint NOT NULL,
    "account" text COLLATE "C" NOT NULL,
    "line" text COLLATE "C" NOT NULL,
    "file" text COLLATE "C",
    "file_line" bigint NOT NULL,
    "broker" text COLLATE "C",
    "broker_id" text COLLATE "C",
    "isin" text COLLATE "C",
    "key" text COLLATE "C",
    "change" bigint NOT NULL,
    PRIMARY KEY (tenant, "portfolio", "id")
);
CREATE INDEX entry_by_version ON cgt.entry (tenant, row_version);

CREATE TABLE cgt.change (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "portfolio" text COLLATE "C" NOT NULL,
    "id" bigint NOT NULL,
    "at" bigint NOT NULL,
    "summary" text COLLATE "C" NOT NULL,
    "undoes" bigint,
    "undone" bigint NOT NULL,
    PRIMARY KEY (tenant, "portfolio", "id")
);
CREATE INDEX change_by_version ON cgt.change (tenant, row_version);

CREATE TABLE cgt.image (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "portfolio" text COLLATE "C" NOT NULL,
    "change" bigint NOT NULL,
    "entry" bigint NOT NULL,
    "before" text COLLATE "C",
    "before_change" bigint,
    "after_change" bigint,
    PRIMARY KEY (tenant, "portfolio", "change", "entry")
);
CREATE INDEX image_by_version ON cgt.image (tenant, row_version);

-- Row-level security, also for the owner of the tables.
ALTER TABLE cgt.collection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.collection
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.removed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.removed
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.portfolio ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.portfolio
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.account ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.account
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.entry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.entry
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.change ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.change
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE cgt.image ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON cgt.image
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
