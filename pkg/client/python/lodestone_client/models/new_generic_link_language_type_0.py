from typing import Literal

NewGenericLinkLanguageType0 = Literal["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

NEW_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES: set[NewGenericLinkLanguageType0] = {
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
}


def check_new_generic_link_language_type_0(value: str) -> NewGenericLinkLanguageType0:
    if value in NEW_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES!r}")
