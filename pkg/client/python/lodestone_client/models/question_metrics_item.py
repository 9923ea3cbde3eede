from typing import Literal

QuestionMetricsItem = Literal[
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

QUESTION_METRICS_ITEM_VALUES: set[QuestionMetricsItem] = {
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


def check_question_metrics_item(value: str) -> QuestionMetricsItem:
    if value in QUESTION_METRICS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_METRICS_ITEM_VALUES!r}")
