from typing import Literal

NewChannelAboutItem = Literal["leads", "readers", "webhooks", "weekly"]

NEW_CHANNEL_ABOUT_ITEM_VALUES: set[NewChannelAboutItem] = {
    "leads",
    "readers",
    "webhooks",
    "weekly",
}


def check_new_channel_about_item(value: str) -> NewChannelAboutItem:
    if value in NEW_CHANNEL_ABOUT_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_CHANNEL_ABOUT_ITEM_VALUES!r}")
