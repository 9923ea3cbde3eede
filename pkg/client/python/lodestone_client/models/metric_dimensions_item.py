from typing import Literal

MetricDimensionsItem = Literal[
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

METRIC_DIMENSIONS_ITEM_VALUES: set[MetricDimensionsItem] = {
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


def check_metric_dimensions_item(value: str) -> MetricDimensionsItem:
    if value in METRIC_DIMENSIONS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {METRIC_DIMENSIONS_ITEM_VALUES!r}")
