from typing import Literal

NewAPIKeyScopesItem = Literal["keys", "leads", "people", "people:privacy", "read", "webhooks", "write"]

NEW_API_KEY_SCOPES_ITEM_VALUES: set[NewAPIKeyScopesItem] = {
    "keys",
    "leads",
    "people",
    "people:privacy",
    "read",
    "webhooks",
    "write",
}


def check_new_api_key_scopes_item(value: str) -> NewAPIKeyScopesItem:
    if value in NEW_API_KEY_SCOPES_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_API_KEY_SCOPES_ITEM_VALUES!r}")
