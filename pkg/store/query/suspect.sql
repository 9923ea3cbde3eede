-- name: JustMailed :one
-- Tells whether an invitation or a reminder with a link was handed to the mail server less than some seconds ago. Whoever sent a form waits
-- for the mail, and opens it at once.
SELECT EXISTS (
    SELECT FROM recipients r
    WHERE r.id = sqlc.arg(access_link_id) AND greatest(r.sent_at, r.reminded_at) > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8));

-- name: AddSuspect :exec
INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING;

-- name: LeavesOut :one
-- Tells whether the account that the transaction is scoped to leaves the sessions of a rule out.
SELECT (sqlc.arg(rule)::text = ANY (left_out_suspects))::boolean FROM accounts;

-- name: LeftOutSuspects :one
SELECT left_out_suspects FROM accounts WHERE id = $1;

-- name: JudgeInput :exec
-- Suspects those of the sessions, which are over, in which several pages were seen in seconds and nothing was touched.
INSERT INTO suspects (id, account_id, access_link_id, rule, started_at)
SELECT s.id, s.account_id, s.access_link_id, sqlc.arg(rule)::text, s.started_at
FROM sessions s
WHERE s.id = ANY (sqlc.arg(ids)::uuid[]) AND NOT s.bot AND NOT s.touched
    AND cardinality(s.pages) >= sqlc.arg(pages)::integer AND s.duration_ms < cardinality(s.pages) * sqlc.arg(page_ms)::integer
ON CONFLICT (id) DO NOTHING;

-- name: Paths :many
-- The sessions of the ids, which are over, and those that are not, with as many that one browser began in the span of time and saw the same
-- pages in, in the order of their beginning.
WITH paths AS (
    SELECT account_id, client, pages, min(started_at) AS since, max(started_at) AS until
    FROM sessions WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND NOT bot AND client IS NOT NULL AND pages <> '{}'
    GROUP BY account_id, client, pages
), seen AS (
    SELECT s.* FROM sessions s
    WHERE s.id = ANY (sqlc.arg(ids)::uuid[]) AND NOT s.bot AND s.client IS NOT NULL AND s.pages <> '{}'
    UNION ALL
    SELECT s.* FROM paths p JOIN sessions s USING (account_id, client, pages)
    WHERE NOT s.bot AND s.ended_at IS NULL AND s.started_at >= sqlc.arg(since)::timestamptz
        AND s.started_at BETWEEN p.since AND p.until + make_interval(secs => sqlc.arg(seconds)::float8)
), counted AS (
    SELECT *, count(*) OVER (PARTITION BY account_id, client, pages) AS alike FROM seen
)
SELECT id, account_id, access_link_id, client::bigint AS client, pages, duration_ms, started_at, (ended_at IS NOT NULL)::boolean AS over
FROM counted WHERE alike >= sqlc.arg(links)::bigint
ORDER BY started_at, id;

-- name: AddSuspects :exec
INSERT INTO suspects (id, account_id, access_link_id, rule, started_at)
SELECT unnest(sqlc.arg(ids)::uuid[]), unnest(sqlc.arg(accounts)::uuid[]), unnest(sqlc.arg(links)::uuid[]), sqlc.arg(rule)::text,
    unnest(sqlc.arg(started)::timestamptz[])
ON CONFLICT (id) DO NOTHING;

-- name: ForgetClients :exec
-- Of sessions that are judged: nothing compares them with others again.
UPDATE sessions SET client = NULL WHERE id = ANY (sqlc.arg(ids)::uuid[]) AND client IS NOT NULL;

-- name: SuspectsAmong :many
-- The sessions that are suspected, and whether their account leaves them out.
SELECT s.id, s.rule, (s.rule = ANY (a.left_out_suspects))::boolean AS left_out
FROM suspects s JOIN accounts a ON a.id = s.account_id
WHERE s.id = ANY (sqlc.arg(ids)::uuid[]);

-- name: CountSuspects :many
-- The sessions of each rule since a time, and of how many people they are. The links of some may be gone.
SELECT s.rule, count(*) AS sessions, count(DISTINCT coalesce(a.email_key, s.access_link_id::text)) AS people
FROM suspects s LEFT JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
WHERE s.account_id = sqlc.arg(account_id) AND s.started_at >= sqlc.arg(since)
GROUP BY s.rule;

-- name: NewestSuspects :many
-- The newest sessions of each rule since a time, whose links are there.
SELECT n.rule::text AS rule, n.id, n.access_link_id, n.started_at, n.lead_magnet_id, n.email, n.pages, n.duration_ms, n.sent_at, n.reminded_at
FROM unnest(sqlc.arg(rules)::text[]) AS r (rule)
CROSS JOIN LATERAL (
    SELECT s.rule, s.id, s.access_link_id, s.started_at, a.lead_magnet_id, a.email, o.pages, o.duration_ms, i.sent_at, i.reminded_at
    FROM suspects s
    JOIN access_links a ON a.account_id = s.account_id AND a.id = s.access_link_id
    JOIN sessions o ON o.account_id = s.account_id AND o.id = s.id
    LEFT JOIN recipients i ON i.account_id = s.account_id AND i.id = s.access_link_id
    WHERE s.account_id = sqlc.arg(account_id) AND s.rule = r.rule AND s.started_at >= sqlc.arg(since)
    ORDER BY s.started_at DESC LIMIT sqlc.arg(row_limit)::bigint
) AS n;
