-- Flashcards. The columns are those of the SQLite store, by name; `row_version` is the version of the
-- collection that wrote the row last, so that a replica reads only what has changed since its copy.
CREATE SCHEMA noema;

-- Locked by every action: the writes of a tenant are one after the other. `secret` signs tokens.
CREATE TABLE noema.collection (
    tenant  text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    secret  bytea NOT NULL
);

-- Rows that were deleted, for copies that still have them. `key` is a JSON array.
CREATE TABLE noema.removed (
    tenant      text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    of_table    text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, row_version, of_table, key)
);

CREATE TABLE noema.deck (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "folded" text COLLATE "C" NOT NULL,
    "description" text COLLATE "C" NOT NULL,
    "options" text COLLATE "C",
    "filter" text COLLATE "C",
    "created" bigint NOT NULL,
    "modified" bigint NOT NULL,
    "version" bigint NOT NULL,
    "deleted" bigint,
    "batch" bigint,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX deck_by_version ON noema.deck (tenant, row_version);

CREATE TABLE noema.note_type (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "cloze" bigint NOT NULL,
    "fields" text COLLATE "C" NOT NULL,
    "templates" text COLLATE "C" NOT NULL,
    "css" text COLLATE "C" NOT NULL,
    "batch" bigint,
    "config" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX note_type_by_version ON noema.note_type (tenant, row_version);

CREATE TABLE noema.note (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "guid" text COLLATE "C" NOT NULL,
    "note_type" bigint NOT NULL,
    "fields" text COLLATE "C" NOT NULL,
    "tags" text COLLATE "C" NOT NULL,
    "checksum" bigint NOT NULL,
    "source" text COLLATE "C",
    "created" bigint NOT NULL,
    "modified" bigint NOT NULL,
    "version" bigint NOT NULL,
    "deleted" bigint,
    "batch" bigint,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX note_by_version ON noema.note (tenant, row_version);

CREATE TABLE noema.past_content (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "note" bigint NOT NULL,
    "version" bigint NOT NULL,
    "fields" text COLLATE "C" NOT NULL,
    "tags" text COLLATE "C" NOT NULL,
    "replaced" bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX past_content_by_version ON noema.past_content (tenant, row_version);

CREATE TABLE noema.card (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "note" bigint NOT NULL,
    "ordinal" bigint NOT NULL,
    "deck" bigint NOT NULL,
    "position" bigint NOT NULL,
    "phase" bigint NOT NULL,
    "step" bigint NOT NULL,
    "stability" double precision,
    "difficulty" double precision,
    "last_review" bigint,
    "due" bigint NOT NULL,
    "interval_days" bigint NOT NULL,
    "reps" bigint NOT NULL,
    "lapses" bigint NOT NULL,
    "ease" bigint NOT NULL,
    "flag" bigint NOT NULL,
    "hold" bigint NOT NULL,
    "held_until" bigint,
    "sequence" bigint NOT NULL,
    "created" bigint NOT NULL,
    "modified" bigint NOT NULL,
    "deleted" bigint,
    "batch" bigint,
    "custom" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX card_by_version ON noema.card (tenant, row_version);

CREATE TABLE noema.review (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "card" bigint NOT NULL,
    "rating" bigint NOT NULL,
    "kind" bigint NOT NULL,
    "interval" bigint NOT NULL,
    "last_interval" bigint NOT NULL,
    "factor" bigint NOT NULL,
    "taken_ms" bigint NOT NULL,
    "predicted" double precision,
    "felt" double precision,
    "token" text COLLATE "C",
    "outcome" text COLLATE "C",
    "batch" bigint,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX review_by_version ON noema.review (tenant, row_version);

CREATE TABLE noema.tally (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "deck" bigint NOT NULL,
    "day" bigint NOT NULL,
    "new" bigint NOT NULL,
    "reviews" bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX tally_by_version ON noema.tally (tenant, row_version);

CREATE TABLE noema.session (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "deck" bigint,
    "started" bigint NOT NULL,
    "ended" bigint,
    "card_limit" bigint,
    "answered" bigint NOT NULL,
    "passed" bigint NOT NULL,
    "taken_ms" bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX session_by_version ON noema.session (tenant, row_version);

CREATE TABLE noema.action (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "tool" text COLLATE "C" NOT NULL,
    "summary" text COLLATE "C" NOT NULL,
    "at" bigint NOT NULL,
    "undone" bigint,
    "changed" bigint NOT NULL,
    "bulk" bigint NOT NULL,
    "images" text COLLATE "C" NOT NULL,
    "actor" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX action_by_version ON noema.action (tenant, row_version);

CREATE TABLE noema.learner (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "settings" text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX learner_by_version ON noema.learner (tenant, row_version);

CREATE TABLE noema.media_content (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "added" bigint NOT NULL,
    "bytes" bytea NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX media_content_by_version ON noema.media_content (tenant, row_version);

CREATE TABLE noema.media_file (
    tenant text COLLATE "C" NOT NULL,
    row_version bigint NOT NULL,
    "id" bigint NOT NULL,
    "name" text COLLATE "C" NOT NULL,
    "content" bigint NOT NULL,
    "added" bigint NOT NULL,
    "deleted" bigint,
    "batch" bigint,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX media_file_by_version ON noema.media_file (tenant, row_version);

-- Row-level security, also for the owner of the tables.
ALTER TABLE noema.collection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.collection
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.removed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.removed
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.deck ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.deck
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.note_type ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.note_type
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.note ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.note
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.past_content ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.past_content
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.card ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.card
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.review ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.review
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.tally ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.tally
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.session ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.session
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.action ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.action
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.learner ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.learner
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.media_content ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.media_content
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE noema.media_file ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON noema.media_file
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
-- Media are compressed already.
ALTER TABLE noema.media_content ALTER COLUMN bytes SET STORAGE EXTERNAL;
