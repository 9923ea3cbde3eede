from typing import Literal

ChangedGenericLinkReadingNoticesType0 = Literal["daily", "each", "none"]

CHANGED_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES: set[ChangedGenericLinkReadingNoticesType0] = {
    "daily",
    "each",
    "none",
}


def check_changed_generic_link_reading_notices_type_0(value: str) -> ChangedGenericLinkReadingNoticesType0:
    if value in CHANGED_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {CHANGED_GENERIC_LINK_READING_NOTICES_TYPE_0_VALUES!r}"
    )
