from typing import Literal

PersonAccessLinkSource = Literal["api", "form", "mail"]

PERSON_ACCESS_LINK_SOURCE_VALUES: set[PersonAccessLinkSource] = {
    "api",
    "form",
    "mail",
}


def check_person_access_link_source(value: str) -> PersonAccessLinkSource:
    if value in PERSON_ACCESS_LINK_SOURCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PERSON_ACCESS_LINK_SOURCE_VALUES!r}")
