from typing import Literal

ListAnalyticsEventsEventType = Literal["download_completed", "download_started", "page_viewed"]

LIST_ANALYTICS_EVENTS_EVENT_TYPE_VALUES: set[ListAnalyticsEventsEventType] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_list_analytics_events_event_type(value: str) -> ListAnalyticsEventsEventType:
    if value in LIST_ANALYTICS_EVENTS_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_ANALYTICS_EVENTS_EVENT_TYPE_VALUES!r}")
