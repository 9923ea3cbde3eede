from typing import Literal

ExportSubmissionsFormat = Literal["csv", "ndjson", "parquet"]

EXPORT_SUBMISSIONS_FORMAT_VALUES: set[ExportSubmissionsFormat] = {
    "csv",
    "ndjson",
    "parquet",
}


def check_export_submissions_format(value: str) -> ExportSubmissionsFormat:
    if value in EXPORT_SUBMISSIONS_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_SUBMISSIONS_FORMAT_VALUES!r}")
