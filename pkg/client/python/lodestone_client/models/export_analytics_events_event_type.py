from typing import Literal

ExportAnalyticsEventsEventType = Literal["download_completed", "download_started", "page_viewed"]

EXPORT_ANALYTICS_EVENTS_EVENT_TYPE_VALUES: set[ExportAnalyticsEventsEventType] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_export_analytics_events_event_type(value: str) -> ExportAnalyticsEventsEventType:
    if value in EXPORT_ANALYTICS_EVENTS_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_ANALYTICS_EVENTS_EVENT_TYPE_VALUES!r}")
