from typing import Literal

ChangedWebhookKindsItem = Literal[
    "download.completed", "form.submitted", "form.verified", "link.accessed", "link.created", "session.ended"
]

CHANGED_WEBHOOK_KINDS_ITEM_VALUES: set[ChangedWebhookKindsItem] = {
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
}


def check_changed_webhook_kinds_item(value: str) -> ChangedWebhookKindsItem:
    if value in CHANGED_WEBHOOK_KINDS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_WEBHOOK_KINDS_ITEM_VALUES!r}")
