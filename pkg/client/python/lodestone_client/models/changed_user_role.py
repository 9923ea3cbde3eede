from typing import Literal

ChangedUserRole = Literal["analyst", "editor", "owner"]

CHANGED_USER_ROLE_VALUES: set[ChangedUserRole] = {
    "analyst",
    "editor",
    "owner",
}


def check_changed_user_role(value: str) -> ChangedUserRole:
    if value in CHANGED_USER_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_USER_ROLE_VALUES!r}")
