-- name: DestroySalts :exec
-- Not by the caller's clock alone: one that is fast would destroy the salts of all collectors.
DELETE FROM ip_salts WHERE day < least(sqlc.arg(today)::date, (now() AT TIME ZONE 'UTC')::date) - 1;

-- name: OfferSalt :exec
INSERT INTO ip_salts (day, sealed) VALUES (sqlc.arg(day), sqlc.arg(sealed)) ON CONFLICT DO NOTHING;

-- name: Salts :many
SELECT * FROM ip_salts WHERE day BETWEEN sqlc.arg(first_day)::date AND sqlc.arg(last_day)::date ORDER BY day;
