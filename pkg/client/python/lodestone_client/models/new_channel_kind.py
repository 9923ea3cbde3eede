from typing import Literal

NewChannelKind = Literal["discord", "slack", "teams"]

NEW_CHANNEL_KIND_VALUES: set[NewChannelKind] = {
    "discord",
    "slack",
    "teams",
}


def check_new_channel_kind(value: str) -> NewChannelKind:
    if value in NEW_CHANNEL_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_CHANNEL_KIND_VALUES!r}")
