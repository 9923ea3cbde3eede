from typing import Literal

ListSubmissionsSort = Literal["-submitted_at", "submitted_at"]

LIST_SUBMISSIONS_SORT_VALUES: set[ListSubmissionsSort] = {
    "-submitted_at",
    "submitted_at",
}


def check_list_submissions_sort(value: str) -> ListSubmissionsSort:
    if value in LIST_SUBMISSIONS_SORT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SUBMISSIONS_SORT_VALUES!r}")
