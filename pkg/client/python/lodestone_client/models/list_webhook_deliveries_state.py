from typing import Literal

ListWebhookDeliveriesState = Literal["delivered", "failed", "pending"]

LIST_WEBHOOK_DELIVERIES_STATE_VALUES: set[ListWebhookDeliveriesState] = {
    "delivered",
    "failed",
    "pending",
}


def check_list_webhook_deliveries_state(value: str) -> ListWebhookDeliveriesState:
    if value in LIST_WEBHOOK_DELIVERIES_STATE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_WEBHOOK_DELIVERIES_STATE_VALUES!r}")
