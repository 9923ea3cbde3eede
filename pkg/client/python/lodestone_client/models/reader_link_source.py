from typing import Literal

ReaderLinkSource = Literal["api", "form", "mail"]

READER_LINK_SOURCE_VALUES: set[ReaderLinkSource] = {
    "api",
    "form",
    "mail",
}


def check_reader_link_source(value: str) -> ReaderLinkSource:
    if value in READER_LINK_SOURCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READER_LINK_SOURCE_VALUES!r}")
