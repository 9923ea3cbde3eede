from typing import Literal

ProblemCode = Literal[
    "conflict",
    "forbidden",
    "internal",
    "invalid_json",
    "invalid_lead_magnet",
    "invalid_parameter",
    "limit_reached",
    "method_not_allowed",
    "not_found",
    "payload_too_large",
    "rate_limited",
    "slug_taken",
    "unauthorized",
    "unavailable",
    "unsupported_media_type",
    "validation_error",
]

PROBLEM_CODE_VALUES: set[ProblemCode] = {
    "conflict",
    "forbidden",
    "internal",
    "invalid_json",
    "invalid_lead_magnet",
    "invalid_parameter",
    "limit_reached",
    "method_not_allowed",
    "not_found",
    "payload_too_large",
    "rate_limited",
    "slug_taken",
    "unauthorized",
    "unavailable",
    "unsupported_media_type",
    "validation_error",
}


def check_problem_code(value: str) -> ProblemCode:
    if value in PROBLEM_CODE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROBLEM_CODE_VALUES!r}")
