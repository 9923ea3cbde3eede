from typing import Literal

ChangedAccountNotify = Literal["daily", "each", "none"]

CHANGED_ACCOUNT_NOTIFY_VALUES: set[ChangedAccountNotify] = {
    "daily",
    "each",
    "none",
}


def check_changed_account_notify(value: str) -> ChangedAccountNotify:
    if value in CHANGED_ACCOUNT_NOTIFY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_ACCOUNT_NOTIFY_VALUES!r}")
