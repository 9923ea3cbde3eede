from typing import Literal

QuestionsCompare = Literal["previous"]

QUESTIONS_COMPARE_VALUES: set[QuestionsCompare] = {
    "previous",
}


def check_questions_compare(value: str) -> QuestionsCompare:
    if value in QUESTIONS_COMPARE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTIONS_COMPARE_VALUES!r}")
