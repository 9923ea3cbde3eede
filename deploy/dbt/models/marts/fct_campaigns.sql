-- One row a campaign of an account: from the view of a landing page to the last page of the document.
with steps as (
    select account_id, utm_source, utm_campaign, uniqExact(visitor_key) as visitors, 0 as submissions, 0 as readers, 0 as finished
    from {{ ref('stg_link_views') }}
    group by account_id, utm_source, utm_campaign
    union all
    select account_id, utm_source, utm_campaign, 0, count(), 0, 0
    from {{ ref('stg_submissions') }}
    group by account_id, utm_source, utm_campaign
    union all
    select account_id, utm_source, utm_campaign, 0, 0, count(), countIf(r.finished)
    from {{ ref('stg_readers') }} as r
    group by account_id, utm_source, utm_campaign
)

select
    account_id,
    ifNull(utm_source, '') as utm_source,
    ifNull(utm_campaign, '') as utm_campaign,
    concat(toString(account_id), '/', utm_source, '/', utm_campaign) as campaign_key,
    sum(s.visitors) as visitors,
    sum(s.submissions) as submissions,
    sum(s.readers) as readers,
    sum(s.finished) as finished
from steps as s
group by account_id, utm_source, utm_campaign
