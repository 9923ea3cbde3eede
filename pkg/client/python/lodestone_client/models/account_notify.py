from typing import Literal

AccountNotify = Literal["daily", "each", "none"]

ACCOUNT_NOTIFY_VALUES: set[AccountNotify] = {
    "daily",
    "each",
    "none",
}


def check_account_notify(value: str) -> AccountNotify:
    if value in ACCOUNT_NOTIFY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCOUNT_NOTIFY_VALUES!r}")
