from typing import Literal

ChangedAccountLanguageType0 = Literal["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

CHANGED_ACCOUNT_LANGUAGE_TYPE_0_VALUES: set[ChangedAccountLanguageType0] = {
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
}


def check_changed_account_language_type_0(value: str) -> ChangedAccountLanguageType0:
    if value in CHANGED_ACCOUNT_LANGUAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_ACCOUNT_LANGUAGE_TYPE_0_VALUES!r}")
