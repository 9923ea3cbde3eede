from typing import Literal

DeliveryKind = Literal[
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
    "webhook.test",
]

DELIVERY_KIND_VALUES: set[DeliveryKind] = {
    "download.completed",
    "form.submitted",
    "form.verified",
    "link.accessed",
    "link.created",
    "session.ended",
    "webhook.test",
}


def check_delivery_kind(value: str) -> DeliveryKind:
    if value in DELIVERY_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELIVERY_KIND_VALUES!r}")
