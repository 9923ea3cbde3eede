from typing import Literal

LogoContentType = Literal["image/jpeg", "image/png"]

LOGO_CONTENT_TYPE_VALUES: set[LogoContentType] = {
    "image/jpeg",
    "image/png",
}


def check_logo_content_type(value: str) -> LogoContentType:
    if value in LOGO_CONTENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LOGO_CONTENT_TYPE_VALUES!r}")
