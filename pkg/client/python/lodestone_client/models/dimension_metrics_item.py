from typing import Literal

DimensionMetricsItem = Literal[
    "attentive",
    "confirmations",
    "download_rate",
    "downloads",
    "downloads_started",
    "events",
    "finish_rate",
    "finished",
    "link_views",
    "median_page_ms",
    "open_rate",
    "p90_page_ms",
    "page_views",
    "people",
    "people_download_rate",
    "people_downloaded",
    "people_finish_rate",
    "people_finished",
    "people_without_form",
    "readers",
    "reading_ms",
    "sessions",
    "submission_rate",
    "submissions",
    "verified",
    "visitors",
]

DIMENSION_METRICS_ITEM_VALUES: set[DimensionMetricsItem] = {
    "attentive",
    "confirmations",
    "download_rate",
    "downloads",
    "downloads_started",
    "events",
    "finish_rate",
    "finished",
    "link_views",
    "median_page_ms",
    "open_rate",
    "p90_page_ms",
    "page_views",
    "people",
    "people_download_rate",
    "people_downloaded",
    "people_finish_rate",
    "people_finished",
    "people_without_form",
    "readers",
    "reading_ms",
    "sessions",
    "submission_rate",
    "submissions",
    "verified",
    "visitors",
}


def check_dimension_metrics_item(value: str) -> DimensionMetricsItem:
    if value in DIMENSION_METRICS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DIMENSION_METRICS_ITEM_VALUES!r}")
