from typing import Literal

NewKeyScopesItem = Literal["keys", "leads", "people", "people:privacy", "read", "webhooks", "write"]

NEW_KEY_SCOPES_ITEM_VALUES: set[NewKeyScopesItem] = {
    "keys",
    "leads",
    "people",
    "people:privacy",
    "read",
    "webhooks",
    "write",
}


def check_new_key_scopes_item(value: str) -> NewKeyScopesItem:
    if value in NEW_KEY_SCOPES_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_KEY_SCOPES_ITEM_VALUES!r}")
