-- Of the account that the transaction is scoped to, unless a comment says otherwise.

-- name: CountChatChannels :one
SELECT count(*) FROM chat_channels;

-- name: InsertChatChannel :one
INSERT INTO chat_channels (id, account_id, kind, name, about, url_sealed, url_hint) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *;

-- name: ListChatChannels :many
SELECT * FROM chat_channels ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(row_limit)::bigint OFFSET sqlc.arg(row_offset)::bigint;

-- name: GetChatChannel :one
SELECT * FROM chat_channels WHERE id = $1;

-- name: UpdateChatChannel :one
-- Switching it on forgets why it was switched off.
UPDATE chat_channels SET
    name = coalesce(sqlc.narg(name), name),
    about = coalesce(sqlc.narg(about), about),
    url_sealed = coalesce(sqlc.narg(url_sealed), url_sealed),
    url_hint = coalesce(sqlc.narg(url_hint), url_hint),
    is_active = coalesce(sqlc.narg(is_active), is_active),
    disabled_reason = CASE WHEN sqlc.narg(is_active)::boolean THEN NULL ELSE disabled_reason END
WHERE id = sqlc.arg(id)
RETURNING *;

-- name: DeleteChatChannel :execrows
DELETE FROM chat_channels WHERE id = $1;

-- name: ChatChannelsAbout :many
-- Of any account: the channels of an account that get notices about something.
SELECT id FROM chat_channels WHERE account_id = $1 AND is_active AND sqlc.arg(about)::text = ANY (about) ORDER BY id;

-- name: ChatChannelToSend :one
-- Of any account.
SELECT * FROM chat_channels WHERE id = $1;

-- name: ChatSent :exec
-- Of any account.
UPDATE chat_channels SET last_sent_at = clock_timestamp(), last_error = NULL WHERE id = $1;

-- name: ChatFailed :exec
-- Of any account. A channel that is gone is switched off.
UPDATE chat_channels SET last_failed_at = clock_timestamp(), last_error = sqlc.arg(error)::text,
    is_active = is_active AND NOT sqlc.arg(gone)::boolean, disabled_reason = CASE WHEN sqlc.arg(gone)::boolean THEN sqlc.arg(error)::text ELSE disabled_reason END
WHERE id = sqlc.arg(id);

-- name: SomeChatChannels :many
-- Of every account.
SELECT id, url_sealed FROM chat_channels WHERE id > sqlc.arg(after) ORDER BY id LIMIT sqlc.arg(row_limit)::bigint;

-- name: ResealChatChannel :exec
-- Of any account, unless the address was changed meanwhile.
UPDATE chat_channels SET url_sealed = sqlc.arg(sealed) WHERE id = sqlc.arg(id) AND url_sealed = sqlc.arg(was);
