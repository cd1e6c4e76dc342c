-- Tables of the kernel. Times are RFC 3339 in UTC as text, as the program writes and compares them.
CREATE SCHEMA kernel;

CREATE TABLE kernel.schema_version (
    one             integer PRIMARY KEY CHECK (one = 1),
    version         integer NOT NULL,
    compatible_from integer NOT NULL,
    migrated_at     timestamptz NOT NULL DEFAULT now()
);

-- The tenant of the transaction. Unset is an error, so that a forgotten tenant is never all of them.
CREATE FUNCTION kernel.current_tenant() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    tenant text := current_setting('panoply.tenant', true);
BEGIN
    IF tenant IS NULL OR tenant = '' THEN
        RAISE EXCEPTION 'no tenant is set: set panoply.tenant in the transaction'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN tenant;
END $$;

CREATE TABLE kernel.tenant (
    id       text COLLATE "C" PRIMARY KEY,
    kind     text COLLATE "C" NOT NULL CHECK (kind IN ('person', 'workspace')),
    name     text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" UNIQUE,
    operator boolean NOT NULL DEFAULT false,
    created  text COLLATE "C" NOT NULL,
    disabled text COLLATE "C",
    erasing  text COLLATE "C",
    UNIQUE (kind, name)
);

CREATE TABLE kernel.member (
    person    text COLLATE "C" NOT NULL REFERENCES kernel.tenant (id) ON DELETE CASCADE,
    workspace text COLLATE "C" NOT NULL REFERENCES kernel.tenant (id) ON DELETE CASCADE,
    PRIMARY KEY (person, workspace)
);
CREATE INDEX member_by_workspace ON kernel.member (workspace);

-- A key without a person acts on the local tenant.
CREATE TABLE kernel.api_key (
    id        text COLLATE "C" PRIMARY KEY,
    hash      text COLLATE "C" NOT NULL UNIQUE,
    label     text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,
    profile   text COLLATE "C" NOT NULL,
    created   text COLLATE "C" NOT NULL,
    expires   text COLLATE "C",
    revoked   text COLLATE "C",
    person    text COLLATE "C" REFERENCES kernel.tenant (id),
    workspace text COLLATE "C" REFERENCES kernel.tenant (id)
);
CREATE INDEX api_key_by_person ON kernel.api_key (person);
CREATE INDEX api_key_by_workspace ON kernel.api_key (workspace);

-- The mutation log of every pack: a change and its record are one transaction. `pack` is empty for
-- packs without data. `at` is in microseconds since 1970; `entry`, the audit entry, is JSON as text,
-- because replies must come back byte for byte.
CREATE TABLE kernel.mutation (
    tenant     text COLLATE "C" NOT NULL,
    id         bigint GENERATED ALWAYS AS IDENTITY,
    pack       text COLLATE "C" NOT NULL,
    call_id    bytea NOT NULL,
    at         bigint NOT NULL,
    partition  text COLLATE "C" NOT NULL,
    tool       text COLLATE "C" NOT NULL,
    key        text COLLATE "C",
    entry      text COLLATE "C" NOT NULL,
    reply_data text COLLATE "C",
    reply_text text COLLATE "C",
    audited    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX mutation_by_key ON kernel.mutation (tenant, pack, partition, tool, key)
    WHERE key IS NOT NULL;
CREATE INDEX mutation_by_age ON kernel.mutation (tenant, at) WHERE audited;
CREATE INDEX mutation_unaudited ON kernel.mutation (call_id) WHERE NOT audited;

CREATE TABLE kernel.preferences (
    tenant  text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    members text COLLATE "C" NOT NULL
);

CREATE TABLE kernel.share (
    owner     text COLLATE "C" NOT NULL,
    recipient text COLLATE "C" NOT NULL,
    pack      text COLLATE "C" NOT NULL,
    item      text COLLATE "C" NOT NULL,
    created   text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, recipient, pack, item)
);
CREATE INDEX share_by_recipient ON kernel.share (recipient);

-- One chain for each process that writes. `sequence` and `hash` are of its last row; the hash of an
-- empty chain is made from its id. `id` of a row orders the rows of all chains for readers.
CREATE TABLE kernel.audit_chain (
    chain    text COLLATE "C" PRIMARY KEY,
    replica  text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    hash     bytea NOT NULL,
    started  timestamptz NOT NULL DEFAULT now(),
    seen     timestamptz NOT NULL DEFAULT now(),
    closed   timestamptz
);

CREATE TABLE kernel.audit (
    chain        text COLLATE "C" NOT NULL,
    sequence     bigint NOT NULL,
    id           bigint GENERATED ALWAYS AS IDENTITY,
    at           text COLLATE "C" NOT NULL,
    tool         text COLLATE "C" NOT NULL,
    tool_version text COLLATE "C" NOT NULL,
    partition    text COLLATE "C" NOT NULL,
    agent_id     text COLLATE "C" NOT NULL,
    trace_id     text COLLATE "C" NOT NULL,
    in_hash      text COLLATE "C" NOT NULL,
    out_hash     text COLLATE "C" NOT NULL,
    latency_ms   bigint NOT NULL,
    seed         text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL,
    error_code   text COLLATE "C",
    mutation     bigint NOT NULL,
    address      text COLLATE "C",
    credential   text COLLATE "C",
    count        bigint NOT NULL,
    format       bigint NOT NULL,
    previous     bytea NOT NULL,
    hash         bytea NOT NULL,
    PRIMARY KEY (chain, sequence)
);
CREATE UNIQUE INDEX audit_by_id ON kernel.audit (id);
CREATE INDEX audit_by_trace ON kernel.audit (trace_id);

-- Calls whose row is in the log: the call itself and a recovery may both append it.
CREATE TABLE kernel.recorded_call (call_id bytea PRIMARY KEY);

-- The ends of all chains at a moment, each checkpoint linked to the one before.
CREATE TABLE kernel.audit_checkpoint (
    number   bigint PRIMARY KEY,
    at       text COLLATE "C" NOT NULL,
    heads    text COLLATE "C" NOT NULL,
    previous bytea NOT NULL,
    hash     bytea NOT NULL
);

CREATE FUNCTION kernel.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER rows_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON kernel.audit
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();
CREATE TRIGGER checkpoints_are_never_changed
    BEFORE UPDATE OR DELETE OR TRUNCATE ON kernel.audit_checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION kernel.refuse_change();
CREATE FUNCTION kernel.head_only_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR new.sequence < old.sequence OR old.closed IS NOT NULL
        OR (new.sequence = old.sequence AND new.hash <> old.hash) THEN
        RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER heads_only_move_on BEFORE UPDATE OR DELETE ON kernel.audit_chain
    FOR EACH ROW EXECUTE FUNCTION kernel.head_only_moves_on();

-- Row-level security, also for the owner of the tables.
ALTER TABLE kernel.mutation ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON kernel.mutation
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE kernel.preferences ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON kernel.preferences
    USING (tenant = (SELECT kernel.current_tenant()))
    WITH CHECK (tenant = (SELECT kernel.current_tenant()));
ALTER TABLE kernel.share ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON kernel.share
    USING (owner = (SELECT kernel.current_tenant()) OR recipient = (SELECT kernel.current_tenant()))
    WITH CHECK (owner = (SELECT kernel.current_tenant()));
-- Withdraws what others share with a tenant that is forgotten.
CREATE POLICY received ON kernel.share FOR DELETE
    USING (recipient = (SELECT kernel.current_tenant()));

-- What crosses tenants: records on their way to the audit log. The functions run as the owner of
-- the tables, who alone has this policy, and with a tenant that nobody is.
CREATE POLICY outbox ON kernel.mutation TO CURRENT_USER USING (true) WITH CHECK (true);

-- Sets a tenant that nobody is; returns the one of the caller.
CREATE FUNCTION kernel.enter_outbox() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    caller text := coalesce(current_setting('panoply.tenant', true), '');
BEGIN
    PERFORM set_config('panoply.tenant', '-', true);
    RETURN caller;
END $$;

CREATE FUNCTION kernel.unaudited(of_pack text, of_tenant text) RETURNS SETOF kernel.mutation
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller text := kernel.enter_outbox();
BEGIN
    -- Without replies, which are data of tenants and not needed for the audit log.
    RETURN QUERY SELECT one.tenant, one.id, one.pack, one.call_id, one.at, one.partition, one.tool,
        one.key, one.entry, NULL::text, NULL::text, one.audited
    FROM kernel.mutation one WHERE NOT one.audited
        AND (of_pack IS NULL OR one.pack = of_pack)
        AND (of_tenant IS NULL OR one.tenant = of_tenant)
    ORDER BY one.id;
    PERFORM set_config('panoply.tenant', caller, true);
END $$;
CREATE FUNCTION kernel.unaudited_call(of_call bytea) RETURNS SETOF kernel.mutation
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller text := kernel.enter_outbox();
BEGIN
    RETURN QUERY SELECT * FROM kernel.mutation one WHERE one.call_id = of_call AND NOT one.audited;
    PERFORM set_config('panoply.tenant', caller, true);
END $$;
-- Marks records whose audit rows are appended in this transaction.
CREATE FUNCTION kernel.mark_audited(calls bytea[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller text := kernel.enter_outbox();
BEGIN
    DELETE FROM kernel.mutation WHERE call_id = ANY (calls) AND NOT audited AND key IS NULL;
    UPDATE kernel.mutation SET audited = true WHERE call_id = ANY (calls) AND NOT audited;
    PERFORM set_config('panoply.tenant', caller, true);
END $$;
