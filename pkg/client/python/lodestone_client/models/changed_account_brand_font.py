from typing import Literal

ChangedAccountBrandFont = Literal["inter", "system"]

CHANGED_ACCOUNT_BRAND_FONT_VALUES: set[ChangedAccountBrandFont] = {
    "inter",
    "system",
}


def check_changed_account_brand_font(value: str) -> ChangedAccountBrandFont:
    if value in CHANGED_ACCOUNT_BRAND_FONT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CHANGED_ACCOUNT_BRAND_FONT_VALUES!r}")
