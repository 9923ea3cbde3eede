from typing import Literal

ListGenericLinksSort = Literal["-created_at", "created_at"]

LIST_GENERIC_LINKS_SORT_VALUES: set[ListGenericLinksSort] = {
    "-created_at",
    "created_at",
}


def check_list_generic_links_sort(value: str) -> ListGenericLinksSort:
    if value in LIST_GENERIC_LINKS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_GENERIC_LINKS_SORT_VALUES!r}")
