from typing import Literal

ExportAnalyticsEventsFormat = Literal["csv", "ndjson", "parquet"]

EXPORT_ANALYTICS_EVENTS_FORMAT_VALUES: set[ExportAnalyticsEventsFormat] = {
    "csv",
    "ndjson",
    "parquet",
}


def check_export_analytics_events_format(value: str) -> ExportAnalyticsEventsFormat:
    if value in EXPORT_ANALYTICS_EVENTS_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_ANALYTICS_EVENTS_FORMAT_VALUES!r}")
