-- Access links and submissions that were deleted, of the account that the transaction is scoped to.

-- name: TakeDeletedLinks :many
-- Those of a person, which an erasure records from now on.
DELETE FROM deleted_links WHERE person_id = sqlc.arg(person_id) RETURNING id;

-- name: DeletedLinksOfPerson :many
SELECT id FROM deleted_links WHERE person_id = sqlc.arg(person_id) AND NOT submission ORDER BY deleted_at, id;
