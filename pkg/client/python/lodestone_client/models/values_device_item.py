from typing import Literal

ValuesDeviceItem = Literal["bot", "desktop", "mobile", "other", "tablet", "unknown"]

VALUES_DEVICE_ITEM_VALUES: set[ValuesDeviceItem] = {
    "bot",
    "desktop",
    "mobile",
    "other",
    "tablet",
    "unknown",
}


def check_values_device_item(value: str) -> ValuesDeviceItem:
    if value in VALUES_DEVICE_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {VALUES_DEVICE_ITEM_VALUES!r}")
