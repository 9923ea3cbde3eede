from typing import Literal

SessionMethod = Literal["invitation", "key", "link", "mail", "openid"]

SESSION_METHOD_VALUES: set[SessionMethod] = {
    "invitation",
    "key",
    "link",
    "mail",
    "openid",
}


def check_session_method(value: str) -> SessionMethod:
    if value in SESSION_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SESSION_METHOD_VALUES!r}")
