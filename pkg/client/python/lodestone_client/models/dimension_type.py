from typing import Literal

DimensionType = Literal["boolean", "number", "text", "uuid"]

DIMENSION_TYPE_VALUES: set[DimensionType] = {
    "boolean",
    "number",
    "text",
    "uuid",
}


def check_dimension_type(value: str) -> DimensionType:
    if value in DIMENSION_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DIMENSION_TYPE_VALUES!r}")
