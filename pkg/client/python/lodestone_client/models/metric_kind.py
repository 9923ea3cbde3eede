from typing import Literal

MetricKind = Literal["distinct", "quantile", "rate", "sum"]

METRIC_KIND_VALUES: set[MetricKind] = {
    "distinct",
    "quantile",
    "rate",
    "sum",
}


def check_metric_kind(value: str) -> MetricKind:
    if value in METRIC_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {METRIC_KIND_VALUES!r}")
