-- name: BrandOfAccount :one
-- How mails of an account look. Its logo is a picture of its own.
SELECT name, brand_color, language, timezone FROM accounts WHERE id = $1;

-- name: LogoOfAccount :one
SELECT content_type, width, height, bytes FROM pictures WHERE account_id = $1 AND kind = 'logo';

-- name: CoverOfMagnet :one
-- The small picture of the first page of a lead magnet's file.
SELECT p.content_type, p.width, p.height, p.bytes
FROM lead_magnets m JOIN pictures p ON p.lead_magnet_id = m.id AND p.version = m.file_version AND p.kind = 'small'
WHERE m.id = $1;
