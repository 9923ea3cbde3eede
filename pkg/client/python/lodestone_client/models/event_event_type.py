from typing import Literal

EventEventType = Literal["download_completed", "download_started", "page_viewed"]

EVENT_EVENT_TYPE_VALUES: set[EventEventType] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_event_event_type(value: str) -> EventEventType:
    if value in EVENT_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EVENT_EVENT_TYPE_VALUES!r}")
