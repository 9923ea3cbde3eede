from typing import Literal

GenericLinkReadingNoticesType0 = Literal["daily", "each", "none"]

GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES: set[GenericLinkReadingNoticesType0] = {
    "daily",
    "each",
    "none",
}


def check_generic_link_reading_notices_type_0(value: str) -> GenericLinkReadingNoticesType0:
    if value in GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES!r}")
