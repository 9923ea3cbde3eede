from typing import Literal

ChannelKind = Literal["discord", "slack", "teams"]

CHANNEL_KIND_VALUES: set[ChannelKind] = {
    "discord",
    "slack",
    "teams",
}


def check_channel_kind(value: str) -> ChannelKind:
    if value in CHANNEL_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANNEL_KIND_VALUES!r}")
