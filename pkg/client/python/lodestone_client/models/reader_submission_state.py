from typing import Literal

ReaderSubmissionState = Literal["awaiting_verification", "ready", "viewed"]

READER_SUBMISSION_STATE_VALUES: set[ReaderSubmissionState] = {
    "awaiting_verification",
    "ready",
    "viewed",
}


def check_reader_submission_state(value: str) -> ReaderSubmissionState:
    if value in READER_SUBMISSION_STATE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READER_SUBMISSION_STATE_VALUES!r}")
