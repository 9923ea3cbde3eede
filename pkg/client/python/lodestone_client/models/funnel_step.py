from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.funnel_step_step import FunnelStepStep, check_funnel_step_step

T = TypeVar("T", bound="FunnelStep")


@_attrs_define
class FunnelStep:
    """
    Attributes:
        count (int): How many took the step, with access links that the API created and that were first opened in the
            period.
        from_form (int): How many took the step without these: views of landing pages, and submissions.
        median_seconds (float | None): Median time since the step before, of submissions that took both. For finished
            and downloaded, the time since opened. Null for link_view and submission.
        rate (float | None): from_form, divided by that of the step before. finished and downloaded are both divided by
            opened.
        step (FunnelStepStep): Name of the step.
        total_rate (float | None): from_form, divided by that of link_view.
    """

    count: int
    from_form: int
    median_seconds: float | None
    rate: float | None
    step: FunnelStepStep
    total_rate: float | None

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        from_form = self.from_form

        median_seconds: float | None
        median_seconds = self.median_seconds

        rate: float | None
        rate = self.rate

        step: str = self.step

        total_rate: float | None
        total_rate = self.total_rate

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count": count,
                "from_form": from_form,
                "median_seconds": median_seconds,
                "rate": rate,
                "step": step,
                "total_rate": total_rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        count = d.pop("count")

        from_form = d.pop("from_form")

        def _parse_median_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        median_seconds = _parse_median_seconds(d.pop("median_seconds"))

        def _parse_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate = _parse_rate(d.pop("rate"))

        step = check_funnel_step_step(d.pop("step"))

        def _parse_total_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        total_rate = _parse_total_rate(d.pop("total_rate"))

        funnel_step = cls(
            count=count,
            from_form=from_form,
            median_seconds=median_seconds,
            rate=rate,
            step=step,
            total_rate=total_rate,
        )

        return funnel_step
