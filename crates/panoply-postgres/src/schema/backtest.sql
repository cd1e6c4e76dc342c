-- The catalog of runs, and the blobs of open runs; sealed runs are files.
CREATE SCHEMA backtest;

-- `version` grows whenever a run is sealed or deleted.
CREATE TABLE backtest.collection (
    tenant  text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL
);

-- `header` and `summary` are JSON as text. A seal that runs has a name and ends at `sealing_until`;
-- a batch that comes after that takes its name away, so that the seal cannot be finished.
CREATE TABLE backtest.run (
    tenant        text COLLATE "C" NOT NULL,
    id            text COLLATE "C" NOT NULL,
    status        text COLLATE "C" NOT NULL,
    header        text COLLATE "C" NOT NULL,
    created_at    bigint NOT NULL,
    events        bigint NOT NULL,
    first         bigint,
    last          bigint,
    summary       text COLLATE "C",
    sealing       text COLLATE "C",
    sealing_until timestamptz,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE backtest.blob (
    tenant text COLLATE "C" NOT NULL,
    run    text COLLATE "C" NOT NULL,
    key    bigint NOT NULL,
    value  bytea NOT NULL,
    PRIMARY KEY (tenant, run, key)
);
-- Blobs are compressed already.
ALTER TABLE backtest.blob ALTER COLUMN value SET STORAGE EXTERNAL;

-- Row-level security, also for the owner of the tables.
ALTER TABLE backtest.collection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON backtest.collection
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE backtest.run ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON backtest.run
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE backtest.blob ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON backtest.blob
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
