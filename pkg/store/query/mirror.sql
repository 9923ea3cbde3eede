-- name: AnyEntityChange :one
SELECT EXISTS (SELECT FROM entity_changes);

-- name: EntityChanges :many
SELECT number, entity, id FROM entity_changes ORDER BY number LIMIT sqlc.arg(max_changes);

-- name: RemoveEntityChanges :exec
DELETE FROM entity_changes WHERE number = ANY (sqlc.arg(numbers)::bigint[]);

-- name: NoteEntities :exec
INSERT INTO entity_changes (entity, id) SELECT sqlc.arg(entity), unnest(sqlc.arg(ids)::uuid[]);

-- name: EntityVersion :one
-- A version above every earlier one, even after Postgres was restored from a backup.
SELECT setval('entity_version', greatest(nextval('entity_version'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS version, emails
FROM entity_copy;

-- name: CopiesEmails :one
SELECT emails FROM entity_copy;

-- name: SetCopiesEmails :execrows
UPDATE entity_copy SET emails = sqlc.arg(emails), purge = NOT sqlc.arg(emails)::boolean WHERE emails <> sqlc.arg(emails);

-- name: PurgeDue :one
SELECT (purge AND NOT EXISTS (SELECT FROM entity_changes WHERE entity = 'access_links'))::boolean AS due FROM entity_copy;

-- name: EndPurge :exec
UPDATE entity_copy SET purge = false WHERE NOT emails;

-- name: MirrorLag :one
SELECT coalesce(extract(epoch FROM clock_timestamp() - (SELECT changed_at FROM entity_changes ORDER BY number LIMIT 1)), 0)::float8;

-- name: Cluster :one
-- The cluster and its timeline. Not every user may read them.
SELECT concat(s.system_identifier, '/', c.timeline_id)::text FROM pg_control_system() s, pg_control_checkpoint() c;

-- name: ComparisonDue :one
SELECT (compared_at <= now() - make_interval(secs => sqlc.arg(seconds)::float8) OR cluster <> sqlc.arg(cluster))::boolean AS due FROM entity_copy;

-- name: EndComparison :exec
UPDATE entity_copy SET compared_at = now(), cluster = sqlc.arg(cluster);
