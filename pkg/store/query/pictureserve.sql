-- name: ServePicture :one
-- For everybody: run outside of any account.
SELECT content_type, bytes FROM pictures WHERE id = $1;
