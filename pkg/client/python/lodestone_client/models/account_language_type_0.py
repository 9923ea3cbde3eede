from typing import Literal

AccountLanguageType0 = Literal["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

ACCOUNT_LANGUAGE_TYPE_0_VALUES: set[AccountLanguageType0] = {
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
}


def check_account_language_type_0(value: str) -> AccountLanguageType0:
    if value in ACCOUNT_LANGUAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCOUNT_LANGUAGE_TYPE_0_VALUES!r}")
