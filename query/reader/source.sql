-- Where people came from first: the source of their first submission. One that was deleted is known by the access link that it made.
SELECT
    person_id, first.1, first.2, first.3, first.4, first.5, first.6
FROM
(
SELECT person_id, argMin((utm_source, utm_medium, utm_campaign, utm_content, utm_term, host), (at, origin, id)) AS first
FROM
(
    SELECT person_id, utm_source, utm_medium, utm_campaign, utm_content, utm_term, referrer_host AS host, submitted_at AS at, 1 AS origin, id
    FROM lodestone.submissions FINAL
    WHERE account_id = {account:UUID} AND person_id IN {people:Array(UUID)}
    UNION ALL
    SELECT person_id, utm_source, utm_medium, utm_campaign, utm_content, utm_term, referrer_host, created_at, 2, id
    FROM lodestone.access_links FINAL
    WHERE account_id = {account:UUID} AND person_id IN {people:Array(UUID)} AND source IN ('mail', 'form')
)
GROUP BY person_id
)
