from typing import Literal

AccountBrandFont = Literal["inter", "system"]

ACCOUNT_BRAND_FONT_VALUES: set[AccountBrandFont] = {
    "inter",
    "system",
}


def check_account_brand_font(value: str) -> AccountBrandFont:
    if value in ACCOUNT_BRAND_FONT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCOUNT_BRAND_FONT_VALUES!r}")
