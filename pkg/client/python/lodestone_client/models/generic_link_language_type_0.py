from typing import Literal

GenericLinkLanguageType0 = Literal["de", "en", "es", "fr", "it", "nl", "pl", "pt"]

GENERIC_LINK_LANGUAGE_TYPE_0_VALUES: set[GenericLinkLanguageType0] = {
    "de",
    "en",
    "es",
    "fr",
    "it",
    "nl",
    "pl",
    "pt",
}


def check_generic_link_language_type_0(value: str) -> GenericLinkLanguageType0:
    if value in GENERIC_LINK_LANGUAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GENERIC_LINK_LANGUAGE_TYPE_0_VALUES!r}")
