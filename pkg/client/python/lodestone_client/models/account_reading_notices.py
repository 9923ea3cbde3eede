from typing import Literal

AccountReadingNotices = Literal["daily", "each", "none"]

ACCOUNT_READING_NOTICES_VALUES: set[AccountReadingNotices] = {
    "daily",
    "each",
    "none",
}


def check_account_reading_notices(value: str) -> AccountReadingNotices:
    if value in ACCOUNT_READING_NOTICES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCOUNT_READING_NOTICES_VALUES!r}")
