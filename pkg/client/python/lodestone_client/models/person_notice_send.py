from typing import Literal

PersonNoticeSend = Literal["daily", "each"]

PERSON_NOTICE_SEND_VALUES: set[PersonNoticeSend] = {
    "daily",
    "each",
}


def check_person_notice_send(value: str) -> PersonNoticeSend:
    if value in PERSON_NOTICE_SEND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PERSON_NOTICE_SEND_VALUES!r}")
