from typing import Literal

ValuesEventTypeItem = Literal["download_completed", "download_started", "page_viewed"]

VALUES_EVENT_TYPE_ITEM_VALUES: set[ValuesEventTypeItem] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_values_event_type_item(value: str) -> ValuesEventTypeItem:
    if value in VALUES_EVENT_TYPE_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {VALUES_EVENT_TYPE_ITEM_VALUES!r}")
