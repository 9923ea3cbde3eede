from typing import Literal

WebhookKindsItem = Literal[
    "download.completed", "form.submitted", "form.verified", "link.accessed", "link.created", "session.ended"
]

WEBHOOK_KINDS_ITEM_VALUES: set[WebhookKindsItem] = {
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
}


def check_webhook_kinds_item(value: str) -> WebhookKindsItem:
    if value in WEBHOOK_KINDS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {WEBHOOK_KINDS_ITEM_VALUES!r}")
