from typing import Literal

NewWebhookKindsItem = Literal[
    "download.completed", "form.submitted", "form.verified", "link.accessed", "link.created", "session.ended"
]

NEW_WEBHOOK_KINDS_ITEM_VALUES: set[NewWebhookKindsItem] = {
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
}


def check_new_webhook_kinds_item(value: str) -> NewWebhookKindsItem:
    if value in NEW_WEBHOOK_KINDS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_WEBHOOK_KINDS_ITEM_VALUES!r}")
