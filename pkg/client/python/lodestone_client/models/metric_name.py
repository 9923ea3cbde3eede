from typing import Literal

MetricName = Literal[
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

METRIC_NAME_VALUES: set[MetricName] = {
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


def check_metric_name(value: str) -> MetricName:
    if value in METRIC_NAME_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {METRIC_NAME_VALUES!r}")
