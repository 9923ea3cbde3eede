-- name: AnyEntityChange :one
SELECT EXISTS (SELECT FROM entity_changes WHERE copy = sqlc.arg(copy));

-- name: EntityChanges :many
SELECT number, entity, id FROM entity_changes WHERE copy = sqlc.arg(copy) ORDER BY number LIMIT sqlc.arg(max_changes);

-- name: RemoveEntityChanges :exec
DELETE FROM entity_changes WHERE copy = sqlc.arg(copy) AND number = ANY (sqlc.arg(numbers)::bigint[]);

-- name: NoteEntities :exec
INSERT INTO entity_changes (copy, entity, id) SELECT sqlc.arg(copy), sqlc.arg(entity), unnest(sqlc.arg(ids)::uuid[]);

-- name: EntityVersion :one
-- A version above every earlier one, even after Postgres was restored from a backup.
SELECT setval('entity_version', greatest(nextval('entity_version'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));

-- name: NoteAllEntities :exec
INSERT INTO entity_changes (copy, entity, id) SELECT sqlc.arg(copy), c.entity, c.id FROM copied_entities c WHERE c.entity = sqlc.arg(entity)::text;

-- name: NoteAllEntitiesEverywhere :exec
INSERT INTO entity_changes (copy, entity, id) SELECT o.copy, c.entity, c.id FROM copied_entities c CROSS JOIN copies o WHERE c.entity = sqlc.arg(entity)::text;

-- name: NoteBuckets :execrows
-- Notes the entities whose ids end with one of the texts.
INSERT INTO entity_changes (copy, entity, id)
SELECT sqlc.arg(copy), c.entity, c.id FROM copied_entities c WHERE c.entity = sqlc.arg(entity)::text AND right(c.id::text, 3) = ANY (sqlc.arg(buckets)::text[]);

-- name: EntityBuckets :many
-- The number of entities and the sum of their hashes for each end of an id, and whether one has changes that are not
-- copied yet. It is one statement, so that entities and changes are of one snapshot.
SELECT r.bucket::text AS bucket, sum(r.n)::bigint AS entities, sum(r.hash)::text AS sum, bool_or(r.pending)::boolean AS pending
FROM (
    SELECT right(c.id::text, 3) AS bucket, 1 AS n, ('x' || left(md5(c.content), 10))::bit(40)::bigint AS hash, false AS pending
    FROM copied_entities c WHERE c.entity = sqlc.arg(entity)::text
    UNION ALL
    SELECT right(e.id::text, 3), 0, 0, true FROM entity_changes e WHERE e.copy = sqlc.arg(copy) AND e.entity = sqlc.arg(entity)::text
) AS r
GROUP BY r.bucket;

-- name: CopyOfLeadMagnets :many
SELECT m.id, m.account_id, m.title, m.description, m.is_active, m.file_version, coalesce(f.page_count, 0)::integer AS page_count, m.created_at, m.updated_at
FROM lead_magnets m LEFT JOIN lead_magnet_files f ON f.lead_magnet_id = m.id AND f.version = m.file_version
WHERE m.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CopyOfGenericLinks :many
SELECT id, account_id, lead_magnet_id, slug, title, active, require_verification, submission_count, created_at, updated_at
FROM generic_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CopyOfAccessLinks :many
SELECT id, account_id, lead_magnet_id, generic_link_id, submission_id, CASE WHEN (SELECT emails FROM entity_copy) THEN email END AS email,
    substring(email_key FROM '[^@]*$')::text AS email_domain, person_id(account_id, email_key)::uuid AS person_id, source,
    coalesce(utm ->> 'utm_source', '')::text AS utm_source, coalesce(utm ->> 'utm_medium', '')::text AS utm_medium,
    coalesce(utm ->> 'utm_campaign', '')::text AS utm_campaign, coalesce(utm ->> 'utm_content', '')::text AS utm_content,
    coalesce(utm ->> 'utm_term', '')::text AS utm_term, coalesce(referrer, '')::text AS referrer,
    max_views, expires_at, is_active, created_at, updated_at
FROM access_links WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CopyOfSubmissions :many
SELECT s.id, s.account_id, l.lead_magnet_id, s.generic_link_id, CASE WHEN (SELECT emails FROM entity_copy) THEN s.email END AS email,
    substring(s.email_key FROM '[^@]*$')::text AS email_domain, person_id(s.account_id, s.email_key)::uuid AS person_id,
    s.verification_required, s.verified,
    coalesce(s.utm ->> 'utm_source', '')::text AS utm_source, coalesce(s.utm ->> 'utm_medium', '')::text AS utm_medium,
    coalesce(s.utm ->> 'utm_campaign', '')::text AS utm_campaign, coalesce(s.utm ->> 'utm_content', '')::text AS utm_content,
    coalesce(s.utm ->> 'utm_term', '')::text AS utm_term, coalesce(s.referrer, '')::text AS referrer,
    s.submitted_at, s.verified_at, s.consented_at, CASE WHEN (SELECT emails FROM entity_copy) THEN s.answers::text ELSE '{}' END::text AS answers
FROM submissions s JOIN generic_links l ON l.account_id = s.account_id AND l.id = s.generic_link_id
WHERE s.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CopyOfSuspects :many
SELECT id, account_id, access_link_id, rule, started_at FROM suspects WHERE id = ANY (sqlc.arg(ids)::uuid[]);

-- name: PageCounts :many
-- Of every version of the lead magnets whose pages were counted.
SELECT account_id, lead_magnet_id, version, page_count::integer AS page_count FROM lead_magnet_files
WHERE lead_magnet_id = ANY (sqlc.arg(ids)::uuid[]) AND page_count > 0;

-- name: SetCopiesEmails :execrows
WITH changed AS (
    UPDATE entity_copy SET emails = sqlc.arg(emails) WHERE emails <> sqlc.arg(emails) RETURNING emails
)
UPDATE copies SET purge = NOT changed.emails FROM changed;

-- name: PurgeDue :one
SELECT (c.purge AND NOT EXISTS (SELECT FROM entity_changes e WHERE e.copy = c.copy AND e.entity IN ('access_links', 'submissions')))::boolean AS due
FROM copies c WHERE c.copy = sqlc.arg(copy);

-- name: EndPurge :exec
UPDATE copies SET purge = false WHERE copy = sqlc.arg(copy) AND NOT (SELECT emails FROM entity_copy);

-- name: MirrorLag :one
SELECT coalesce(extract(epoch FROM clock_timestamp() - (SELECT changed_at FROM entity_changes WHERE copy = sqlc.arg(copy) ORDER BY number LIMIT 1)), 0)::float8;

-- name: Cluster :one
-- The cluster and its timeline. Not every user may read them.
SELECT concat(s.system_identifier, '/', c.timeline_id)::text FROM pg_control_system() s, pg_control_checkpoint() c;

-- name: ComparisonDue :one
SELECT (compared_at <= now() - make_interval(secs => sqlc.arg(seconds)::float8) OR cluster <> sqlc.arg(cluster))::boolean AS due
FROM copies WHERE copy = sqlc.arg(copy);

-- name: EndComparison :exec
UPDATE copies SET compared_at = now(), cluster = sqlc.arg(cluster) WHERE copy = sqlc.arg(copy);
