-- +goose Up

-- An access link whose generic link or submission is deleted shows null in its place, so that is a change
-- of it, whoever deletes what: its ETag of before must not pass for the present one.
-- +goose StatementBegin
CREATE FUNCTION access_link_detached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER access_link_detached BEFORE UPDATE OF generic_link_id, submission_id ON access_links
    FOR EACH ROW
    WHEN ((OLD.generic_link_id, OLD.submission_id) IS DISTINCT FROM (NEW.generic_link_id, NEW.submission_id))
    EXECUTE FUNCTION access_link_detached();

-- +goose Down
DROP TRIGGER access_link_detached ON access_links;
DROP FUNCTION access_link_detached;
