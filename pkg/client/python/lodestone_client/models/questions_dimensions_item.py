from typing import Literal

QuestionsDimensionsItem = Literal[
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

QUESTIONS_DIMENSIONS_ITEM_VALUES: set[QuestionsDimensionsItem] = {
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


def check_questions_dimensions_item(value: str) -> QuestionsDimensionsItem:
    if value in QUESTIONS_DIMENSIONS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QUESTIONS_DIMENSIONS_ITEM_VALUES!r}")
