-- What the application role may do: no DDL, and no change of audit rows.
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA kernel TO :app;
GRANT SELECT ON kernel.schema_version TO :app;
GRANT SELECT, INSERT, UPDATE, DELETE ON kernel.tenant, kernel.member, kernel.api_key, kernel.mutation,
    kernel.preferences, kernel.share TO :app;
GRANT SELECT, INSERT ON kernel.audit, kernel.recorded_call, kernel.audit_checkpoint TO :app;
GRANT SELECT, INSERT ON kernel.audit_chain TO :app;
GRANT UPDATE (sequence, hash, seen, closed) ON kernel.audit_chain TO :app;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA kernel FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kernel TO :app;
GRANT USAGE ON SCHEMA noema TO :app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA noema TO :app;
GRANT USAGE ON SCHEMA cgt TO :app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cgt TO :app;
GRANT USAGE ON SCHEMA backtest TO :app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA backtest TO :app;
GRANT USAGE ON SCHEMA ttm TO :app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ttm TO :app;
