from typing import Literal

ExportReadersSort = Literal[
    "-downloads", "-last_seen_at", "-reading_ms", "-score", "downloads", "last_seen_at", "reading_ms", "score"
]

EXPORT_READERS_SORT_VALUES: set[ExportReadersSort] = {
    "-downloads",
    "-last_seen_at",
    "-reading_ms",
    "-score",
    "downloads",
    "last_seen_at",
    "reading_ms",
    "score",
}


def check_export_readers_sort(value: str) -> ExportReadersSort:
    if value in EXPORT_READERS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_READERS_SORT_VALUES!r}")
