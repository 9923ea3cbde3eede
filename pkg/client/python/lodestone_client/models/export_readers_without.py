from typing import Literal

ExportReadersWithout = Literal["referrer_host", "utm_source"]

EXPORT_READERS_WITHOUT_VALUES: set[ExportReadersWithout] = {
    "referrer_host",
    "utm_source",
}


def check_export_readers_without(value: str) -> ExportReadersWithout:
    if value in EXPORT_READERS_WITHOUT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_READERS_WITHOUT_VALUES!r}")
