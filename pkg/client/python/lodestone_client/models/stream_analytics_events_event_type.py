from typing import Literal

StreamAnalyticsEventsEventType = Literal["download_completed", "download_started", "page_viewed"]

STREAM_ANALYTICS_EVENTS_EVENT_TYPE_VALUES: set[StreamAnalyticsEventsEventType] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_stream_analytics_events_event_type(value: str) -> StreamAnalyticsEventsEventType:
    if value in STREAM_ANALYTICS_EVENTS_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAM_ANALYTICS_EVENTS_EVENT_TYPE_VALUES!r}")
