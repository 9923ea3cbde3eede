from typing import Literal

NewGenericLinkReadingNoticesType0 = Literal["daily", "each", "none"]

NEW_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES: set[NewGenericLinkReadingNoticesType0] = {
    "daily",
    "each",
    "none",
}


def check_new_generic_link_reading_notices_type_0(value: str) -> NewGenericLinkReadingNoticesType0:
    if value in NEW_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES!r}")
