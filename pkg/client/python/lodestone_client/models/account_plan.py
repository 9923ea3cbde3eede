from typing import Literal

AccountPlan = Literal["free", "pro", "team"]

ACCOUNT_PLAN_VALUES: set[AccountPlan] = {
    "free",
    "pro",
    "team",
}


def check_account_plan(value: str) -> AccountPlan:
    if value in ACCOUNT_PLAN_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCOUNT_PLAN_VALUES!r}")
