select
    account_id,
    lead_magnet_id,
    generic_link_id,
    submission_id,
    state,
    nullIf(utm_source, '') as utm_source,
    nullIf(utm_medium, '') as utm_medium,
    nullIf(utm_campaign, '') as utm_campaign,
    nullIf(referrer_host, '') as referrer_host,
    submitted_at,
    confirmed_at,
    consented_at
from {{ source('analytics', 'submissions') }}
