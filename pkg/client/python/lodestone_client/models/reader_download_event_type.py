from typing import Literal

ReaderDownloadEventType = Literal["download_completed", "download_started", "page_viewed"]

READER_DOWNLOAD_EVENT_TYPE_VALUES: set[ReaderDownloadEventType] = {
    "download_completed",
    "download_started",
    "page_viewed",
}


def check_reader_download_event_type(value: str) -> ReaderDownloadEventType:
    if value in READER_DOWNLOAD_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READER_DOWNLOAD_EVENT_TYPE_VALUES!r}")
