from typing import Literal

PersonReportEventType = Literal["download_completed", "download_started"]

PERSON_REPORT_EVENT_TYPE_VALUES: set[PersonReportEventType] = {
    "download_completed",
    "download_started",
}


def check_person_report_event_type(value: str) -> PersonReportEventType:
    if value in PERSON_REPORT_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PERSON_REPORT_EVENT_TYPE_VALUES!r}")
