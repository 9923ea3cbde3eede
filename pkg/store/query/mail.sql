-- name: MailsInClear :many
-- Mails of the queue after an id, in its order, that a release before left in clear.
SELECT id, args FROM river_job WHERE kind = sqlc.arg(kind) AND id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: SealMail :exec
UPDATE river_job SET kind = sqlc.arg(kind), args = sqlc.arg(args) WHERE id = sqlc.arg(id);
