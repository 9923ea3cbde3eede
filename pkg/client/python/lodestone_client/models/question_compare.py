from typing import Literal

QuestionCompare = Literal["previous"]

QUESTION_COMPARE_VALUES: set[QuestionCompare] = {
    "previous",
}


def check_question_compare(value: str) -> QuestionCompare:
    if value in QUESTION_COMPARE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_COMPARE_VALUES!r}")
