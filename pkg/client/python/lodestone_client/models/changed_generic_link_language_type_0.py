from typing import Literal

ChangedGenericLinkLanguageType0 = Literal["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

CHANGED_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES: set[ChangedGenericLinkLanguageType0] = {
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
}


def check_changed_generic_link_language_type_0(value: str) -> ChangedGenericLinkLanguageType0:
    if value in CHANGED_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_GENERIC_LINK_LANGUAGE_TYPE_0_VALUES!r}")
