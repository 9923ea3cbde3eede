from typing import Literal

QuestionsInterval = Literal["day", "hour", "month", "week"]

QUESTIONS_INTERVAL_VALUES: set[QuestionsInterval] = {
    "day",
    "hour",
    "month",
    "week",
}


def check_questions_interval(value: str) -> QuestionsInterval:
    if value in QUESTIONS_INTERVAL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTIONS_INTERVAL_VALUES!r}")
