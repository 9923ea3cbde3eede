select account_id, lead_magnet_id, title, is_active, created_at
from {{ source('analytics', 'lead_magnets') }}
