from typing import Literal

ChangedChannelAboutItem = Literal["leads", "readers", "webhooks", "weekly"]

CHANGED_CHANNEL_ABOUT_ITEM_VALUES: set[ChangedChannelAboutItem] = {
    "leads",
    "readers",
    "webhooks",
    "weekly",
}


def check_changed_channel_about_item(value: str) -> ChangedChannelAboutItem:
    if value in CHANGED_CHANNEL_ABOUT_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_CHANNEL_ABOUT_ITEM_VALUES!r}")
