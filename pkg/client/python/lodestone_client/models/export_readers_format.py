from typing import Literal

ExportReadersFormat = Literal["csv", "ndjson", "parquet"]

EXPORT_READERS_FORMAT_VALUES: set[ExportReadersFormat] = {
    "csv",
    "ndjson",
    "parquet",
}


def check_export_readers_format(value: str) -> ExportReadersFormat:
    if value in EXPORT_READERS_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_READERS_FORMAT_VALUES!r}")
