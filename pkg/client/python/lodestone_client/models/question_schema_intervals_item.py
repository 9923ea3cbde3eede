from typing import Literal

QuestionSchemaIntervalsItem = Literal["day", "hour", "month", "week"]

QUESTION_SCHEMA_INTERVALS_ITEM_VALUES: set[QuestionSchemaIntervalsItem] = {
    "day",
    "hour",
    "month",
    "week",
}


def check_question_schema_intervals_item(value: str) -> QuestionSchemaIntervalsItem:
    if value in QUESTION_SCHEMA_INTERVALS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_SCHEMA_INTERVALS_ITEM_VALUES!r}")
