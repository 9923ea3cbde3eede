from typing import Literal

FunnelStepStep = Literal["downloaded", "finished", "link_view", "opened", "submission", "verified"]

FUNNEL_STEP_STEP_VALUES: set[FunnelStepStep] = {
    "downloaded",
    "finished",
    "link_view",
    "opened",
    "submission",
    "verified",
}


def check_funnel_step_step(value: str) -> FunnelStepStep:
    if value in FUNNEL_STEP_STEP_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FUNNEL_STEP_STEP_VALUES!r}")
