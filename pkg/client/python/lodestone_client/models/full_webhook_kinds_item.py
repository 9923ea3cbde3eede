from typing import Literal

FullWebhookKindsItem = Literal[
    "download.completed", "form.submitted", "form.verified", "link.accessed", "link.created", "session.ended"
]

FULL_WEBHOOK_KINDS_ITEM_VALUES: set[FullWebhookKindsItem] = {
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
}


def check_full_webhook_kinds_item(value: str) -> FullWebhookKindsItem:
    if value in FULL_WEBHOOK_KINDS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FULL_WEBHOOK_KINDS_ITEM_VALUES!r}")
