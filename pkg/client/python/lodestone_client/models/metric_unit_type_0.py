from typing import Literal

MetricUnitType0 = Literal["ms"]

METRIC_UNIT_TYPE_0_VALUES: set[MetricUnitType0] = {
    "ms",
}


def check_metric_unit_type_0(value: str) -> MetricUnitType0:
    if value in METRIC_UNIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {METRIC_UNIT_TYPE_0_VALUES!r}")
