from typing import Literal

GetAccessLinkQrFormat = Literal["png", "svg"]

GET_ACCESS_LINK_QR_FORMAT_VALUES: set[GetAccessLinkQrFormat] = {
    "png",
    "svg",
}


def check_get_access_link_qr_format(value: str) -> GetAccessLinkQrFormat:
    if value in GET_ACCESS_LINK_QR_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_ACCESS_LINK_QR_FORMAT_VALUES!r}")
