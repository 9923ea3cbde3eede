from typing import Literal

ListReadersWithout = Literal["referrer_host", "utm_source"]

LIST_READERS_WITHOUT_VALUES: set[ListReadersWithout] = {
    "referrer_host",
    "utm_source",
}


def check_list_readers_without(value: str) -> ListReadersWithout:
    if value in LIST_READERS_WITHOUT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_READERS_WITHOUT_VALUES!r}")
