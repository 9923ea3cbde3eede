-- Views by people. A view without a hash of the address counts as one visitor.
select
    account_id,
    lead_magnet_id,
    generic_link_id,
    event_id,
    coalesce(ip_hash, toString(event_id)) as visitor_key,
    device,
    nullIf(toString(utm_source), '') as utm_source,
    nullIf(toString(utm_medium), '') as utm_medium,
    nullIf(toString(utm_campaign), '') as utm_campaign,
    nullIf(toString(referrer_host), '') as referrer_host,
    created_at
from {{ source('analytics', 'link_views') }}
where bot = ''
