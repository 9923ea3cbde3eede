-- One row a reader, with the document's title.
select
    r.access_link_id as access_link_id,
    r.account_id as account_id,
    r.lead_magnet_id as lead_magnet_id,
    nullIf(m.title, '') as title,
    r.person_key as person_key,
    r.email as email,
    r.utm_source as utm_source,
    r.utm_campaign as utm_campaign,
    r.first_read_at as first_read_at,
    r.last_read_at as last_read_at,
    r.finished_at as finished_at,
    r.sessions as sessions,
    round(r.reading_ms / 60000, 2) as minutes,
    r.downloads as downloads,
    r.finished as finished,
    r.attentive as attentive
from {{ ref('stg_readers') }} as r
left join {{ ref('stg_lead_magnets') }} as m on m.account_id = r.account_id and m.lead_magnet_id = r.lead_magnet_id
