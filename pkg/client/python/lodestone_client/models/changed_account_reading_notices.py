from typing import Literal

ChangedAccountReadingNotices = Literal["daily", "each", "none"]

CHANGED_ACCOUNT_READING_NOTICES_VALUES: set[ChangedAccountReadingNotices] = {
    "daily",
    "each",
    "none",
}


def check_changed_account_reading_notices(value: str) -> ChangedAccountReadingNotices:
    if value in CHANGED_ACCOUNT_READING_NOTICES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_ACCOUNT_READING_NOTICES_VALUES!r}")
