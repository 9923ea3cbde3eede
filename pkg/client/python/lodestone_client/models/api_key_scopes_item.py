from typing import Literal

APIKeyScopesItem = Literal["keys", "leads", "people", "people:privacy", "read", "webhooks", "write"]

API_KEY_SCOPES_ITEM_VALUES: set[APIKeyScopesItem] = {
    "keys",
    "leads",
    "people",
    "people:privacy",
    "read",
    "webhooks",
    "write",
}


def check_api_key_scopes_item(value: str) -> APIKeyScopesItem:
    if value in API_KEY_SCOPES_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {API_KEY_SCOPES_ITEM_VALUES!r}")
