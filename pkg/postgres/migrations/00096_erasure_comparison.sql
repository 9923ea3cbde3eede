-- That this database was compared with the log of erasures (--erasure-log), so that a restored one serves no one who was erased. A server
-- on restored files, or another one, has started at another time; a row that a dump brought is not of the transaction that it names.

-- +goose Up
CREATE TABLE erasure_comparison (
    one            boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row
    server_started timestamptz NOT NULL,
    written_by     text NOT NULL                                 -- the transaction
);

-- +goose StatementBegin
CREATE FUNCTION erasures_compared() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM erasure_comparison c WHERE c.server_started = pg_postmaster_start_time() AND c.written_by = c.xmin::text)
$$;
-- +goose StatementEnd

-- Crud has compared what it serves now, or the database is new.
INSERT INTO erasure_comparison (server_started, written_by) VALUES (pg_postmaster_start_time(), pg_current_xact_id()::xid::text);

-- +goose Down
DROP FUNCTION erasures_compared();
DROP TABLE erasure_comparison;
