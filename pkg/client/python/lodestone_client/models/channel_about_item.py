from typing import Literal

ChannelAboutItem = Literal["leads", "readers", "webhooks", "weekly"]

CHANNEL_ABOUT_ITEM_VALUES: set[ChannelAboutItem] = {
    "leads",
    "readers",
    "webhooks",
    "weekly",
}


def check_channel_about_item(value: str) -> ChannelAboutItem:
    if value in CHANNEL_ABOUT_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANNEL_ABOUT_ITEM_VALUES!r}")
