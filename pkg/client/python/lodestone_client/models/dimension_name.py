from typing import Literal

DimensionName = Literal[
    "access_link_id",
    "bot",
    "browser",
    "country",
    "device",
    "email_domain",
    "event_type",
    "generic_link_id",
    "hour_of_day",
    "language",
    "lead_magnet_id",
    "magnet_version",
    "os",
    "page",
    "referrer_host",
    "utm_campaign",
    "utm_content",
    "utm_medium",
    "utm_source",
    "utm_term",
    "weekday",
]

DIMENSION_NAME_VALUES: set[DimensionName] = {
    "access_link_id",
    "bot",
    "browser",
    "country",
    "device",
    "email_domain",
    "event_type",
    "generic_link_id",
    "hour_of_day",
    "language",
    "lead_magnet_id",
    "magnet_version",
    "os",
    "page",
    "referrer_host",
    "utm_campaign",
    "utm_content",
    "utm_medium",
    "utm_source",
    "utm_term",
    "weekday",
}


def check_dimension_name(value: str) -> DimensionName:
    if value in DIMENSION_NAME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DIMENSION_NAME_VALUES!r}")
