from typing import Literal

GetRetentionBy = Literal["day", "month", "week"]

GET_RETENTION_BY_VALUES: set[GetRetentionBy] = {
    "day",
    "month",
    "week",
}


def check_get_retention_by(value: str) -> GetRetentionBy:
    if value in GET_RETENTION_BY_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_RETENTION_BY_VALUES!r}")
