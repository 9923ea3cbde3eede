from typing import Literal

GetGenericLinkQrFormat = Literal["png", "svg"]

GET_GENERIC_LINK_QR_FORMAT_VALUES: set[GetGenericLinkQrFormat] = {
    "png",
    "svg",
}


def check_get_generic_link_qr_format(value: str) -> GetGenericLinkQrFormat:
    if value in GET_GENERIC_LINK_QR_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_GENERIC_LINK_QR_FORMAT_VALUES!r}")
