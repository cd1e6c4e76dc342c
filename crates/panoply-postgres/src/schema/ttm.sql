-- Papers, documents and jobs. The columns are those of the SQLite store, by name; `row_version` is the
-- version of the collection that wrote the row last, so that a replica reads only what has changed
-- since its copy. Search tables are made by each replica from these, with its own text model.
CREATE SCHEMA ttm;

-- Locked by every change: the writes of a tenant are one after the other.
CREATE TABLE ttm.collection (
    tenant  text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL
);

-- Rows that were deleted, for copies that still have them. `key` is a JSON array.
CREATE TABLE ttm.removed (
    tenant      text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    of_table    text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, row_version, of_table, key)
);

CREATE TABLE ttm.paper (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "pmid" text COLLATE "C" NOT NULL,
    "title" text COLLATE "C" NOT NULL,
    "abstract" text COLLATE "C" NOT NULL,
    "authors" text COLLATE "C" NOT NULL,
    "journal" text COLLATE "C" NOT NULL,
    "year" bigint,
    "mesh" text COLLATE "C" NOT NULL,
    "publication_types" text COLLATE "C" NOT NULL,
    "doi" text COLLATE "C",
    "languages" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "pmid")
);
CREATE INDEX paper_by_version ON ttm.paper (tenant, row_version);

CREATE TABLE ttm.shelf (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "version" bigint NOT NULL,
    PRIMARY KEY (tenant, "version")
);
CREATE INDEX shelf_by_version ON ttm.shelf (tenant, row_version);

CREATE TABLE ttm.ingest_job (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" text COLLATE "C" NOT NULL,
    "status" text COLLATE "C" NOT NULL,
    "detail" text COLLATE "C",
    "dry_run" bigint NOT NULL,
    "request" text COLLATE "C" NOT NULL,
    "done_pages" bigint NOT NULL,
    "all_pages" bigint NOT NULL,
    "report" text COLLATE "C",
    "error" text COLLATE "C",
    "cancel" bigint NOT NULL,
    "created" text COLLATE "C" NOT NULL,
    "started" text COLLATE "C",
    "ended" text COLLATE "C",
    PRIMARY KEY (tenant, "id")
);
CREATE INDEX ingest_job_by_version ON ttm.ingest_job (tenant, row_version);

CREATE TABLE ttm.ingest_log (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "job" text COLLATE "C" NOT NULL,
    "number" bigint NOT NULL,
    "at" text COLLATE "C" NOT NULL,
    "line" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "job", "number")
);
CREATE INDEX ingest_log_by_version ON ttm.ingest_log (tenant, row_version);

CREATE TABLE ttm.ingest_document (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" text COLLATE "C" NOT NULL,
    "sha256" text COLLATE "C" NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "title" text COLLATE "C" NOT NULL,
    "lang" text COLLATE "C" NOT NULL,
    "pages" bigint NOT NULL,
    "job" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "id")
);
CREATE INDEX ingest_document_by_version ON ttm.ingest_document (tenant, row_version);

CREATE TABLE ttm.ingest_chunk (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "document" text COLLATE "C" NOT NULL,
    "number" bigint NOT NULL,
    "page" bigint NOT NULL,
    "start" bigint NOT NULL,
    "end" bigint NOT NULL,
    "lang" text COLLATE "C" NOT NULL,
    "reader" text COLLATE "C" NOT NULL,
    "text" text COLLATE "C" NOT NULL,
    "about" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "document", "number")
);
CREATE INDEX ingest_chunk_by_version ON ttm.ingest_chunk (tenant, row_version);

CREATE TABLE ttm.ingest_fact (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "document" text COLLATE "C" NOT NULL,
    "number" bigint NOT NULL,
    "fact" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, "document", "number")
);
CREATE INDEX ingest_fact_by_version ON ttm.ingest_fact (tenant, row_version);

-- Row-level security, also for the owner of the tables.
ALTER TABLE ttm.collection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.collection
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.removed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.removed
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.paper ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.paper
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.shelf ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.shelf
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.ingest_job ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.ingest_job
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.ingest_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.ingest_log
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.ingest_document ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.ingest_document
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.ingest_chunk ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.ingest_chunk
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE ttm.ingest_fact ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON ttm.ingest_fact
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
