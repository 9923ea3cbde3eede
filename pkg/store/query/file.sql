-- The bytes of documents: chunks of Postgres, or objects of a store.

-- name: InsertFile :exec
INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256, object_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, sqlc.narg(object_id));

-- name: InsertChunk :exec
INSERT INTO lead_magnet_file_chunks (lead_magnet_id, version, number, account_id, bytes)
VALUES ($1, $2, $3, $4, $5);

-- name: GetFile :one
SELECT f.* FROM lead_magnet_files f
JOIN lead_magnets m ON m.account_id = f.account_id AND m.id = f.lead_magnet_id AND m.file_version = f.version
WHERE m.id = $1;

-- name: GetPiece :one
-- Reads some bytes of a chunk, counted from 1. They are stored as they are, so no others are read.
SELECT substring(bytes FROM sqlc.arg(first)::integer FOR sqlc.arg(length)::integer)::bytea AS bytes FROM lead_magnet_file_chunks
WHERE lead_magnet_id = sqlc.arg(lead_magnet_id) AND version = sqlc.arg(version) AND number = sqlc.arg(number);

-- name: InsertFileObject :exec
-- Records an object that is about to be written.
INSERT INTO file_objects (id, account_id) VALUES ($1, $2);

-- name: ReleaseFileObjects :execrows
-- Notes for removal the objects that no file uses, of which so many seconds ago it was recorded that they were to be written. The
-- time is longer than any upload. A file that takes an object at the same time fails this statement, by its foreign key.
WITH released AS (
    DELETE FROM file_objects o WHERE o.id IN (
        SELECT c.id FROM file_objects c
        WHERE c.created_at < clock_timestamp() - make_interval(secs => sqlc.arg(age_seconds)::float8)
            AND NOT EXISTS (SELECT FROM lead_magnet_files f WHERE f.object_id = c.id))
    RETURNING o.id
)
INSERT INTO file_removals (id) SELECT id FROM released;

-- name: FileRemovals :many
SELECT id FROM file_removals ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: DeleteFileRemoval :exec
DELETE FROM file_removals WHERE id = $1;

-- name: CountFileObjects :one
SELECT count(*) FROM lead_magnet_files WHERE object_id IS NOT NULL AND discarded_at IS NULL;
