from typing import Literal

QuestionInterval = Literal["day", "hour", "month", "week"]

QUESTION_INTERVAL_VALUES: set[QuestionInterval] = {
    "day",
    "hour",
    "month",
    "week",
}


def check_question_interval(value: str) -> QuestionInterval:
    if value in QUESTION_INTERVAL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_INTERVAL_VALUES!r}")
