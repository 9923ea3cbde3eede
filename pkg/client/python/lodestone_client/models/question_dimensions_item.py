from typing import Literal

QuestionDimensionsItem = Literal[
    "access_link_id",
    "bot",
    "browser",
    "country",
    "device",
    "email_domain",
    "event_type",
    "generic_link_id",
    "hour_of_day",
    "language",
    "lead_magnet_id",
    "magnet_version",
    "os",
    "page",
    "referrer_host",
    "utm_campaign",
    "utm_content",
    "utm_medium",
    "utm_source",
    "utm_term",
    "weekday",
]

QUESTION_DIMENSIONS_ITEM_VALUES: set[QuestionDimensionsItem] = {
    "access_link_id",
    "bot",
    "browser",
    "country",
    "device",
    "email_domain",
    "event_type",
    "generic_link_id",
    "hour_of_day",
    "language",
    "lead_magnet_id",
    "magnet_version",
    "os",
    "page",
    "referrer_host",
    "utm_campaign",
    "utm_content",
    "utm_medium",
    "utm_source",
    "utm_term",
    "weekday",
}


def check_question_dimensions_item(value: str) -> QuestionDimensionsItem:
    if value in QUESTION_DIMENSIONS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTION_DIMENSIONS_ITEM_VALUES!r}")
