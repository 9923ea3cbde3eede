from typing import Literal

AccessLinkSource = Literal["api", "form", "mail"]

ACCESS_LINK_SOURCE_VALUES: set[AccessLinkSource] = {
    "api",
    "form",
    "mail",
}


def check_access_link_source(value: str) -> AccessLinkSource:
    if value in ACCESS_LINK_SOURCE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCESS_LINK_SOURCE_VALUES!r}")
