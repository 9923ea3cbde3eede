from typing import Literal

ObjectType = Literal[
    "access_link",
    "chat_channel",
    "generic_link",
    "invitation",
    "key",
    "lead_magnet",
    "session",
    "share",
    "submission",
    "user",
    "utm_template",
    "webhook",
]

OBJECT_TYPE_VALUES: set[ObjectType] = {
    "access_link",
    "chat_channel",
    "generic_link",
    "invitation",
    "key",
    "lead_magnet",
    "session",
    "share",
    "submission",
    "user",
    "utm_template",
    "webhook",
}


def check_object_type(value: str) -> ObjectType:
    if value in OBJECT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {OBJECT_TYPE_VALUES!r}")
