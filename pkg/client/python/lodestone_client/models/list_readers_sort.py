from typing import Literal

ListReadersSort = Literal[
    "-downloads", "-last_seen_at", "-reading_ms", "-score", "downloads", "last_seen_at", "reading_ms", "score"
]

LIST_READERS_SORT_VALUES: set[ListReadersSort] = {
    "-downloads",
    "-last_seen_at",
    "-reading_ms",
    "-score",
    "downloads",
    "last_seen_at",
    "reading_ms",
    "score",
}


def check_list_readers_sort(value: str) -> ListReadersSort:
    if value in LIST_READERS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_READERS_SORT_VALUES!r}")
