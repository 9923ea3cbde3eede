from typing import Literal

SubmissionState = Literal["awaiting_verification", "ready", "viewed"]

SUBMISSION_STATE_VALUES: set[SubmissionState] = {
    "awaiting_verification",
    "ready",
    "viewed",
}


def check_submission_state(value: str) -> SubmissionState:
    if value in SUBMISSION_STATE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SUBMISSION_STATE_VALUES!r}")
