from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.question_schema_intervals_item import (
    QuestionSchemaIntervalsItem,
    check_question_schema_intervals_item,
)

if TYPE_CHECKING:
    from ..models.dimension import Dimension
    from ..models.metric import Metric
    from ..models.question_limits import QuestionLimits


T = TypeVar("T", bound="QuestionSchema")


@_attrs_define
class QuestionSchema:
    """
    Attributes:
        dimensions (list[Dimension]): All dimensions.
        intervals (list[QuestionSchemaIntervalsItem]): Units of the calendar that divide a range.
        limits (QuestionLimits):
        metrics (list[Metric]): All metrics.
    """

    dimensions: list[Dimension]
    intervals: list[QuestionSchemaIntervalsItem]
    limits: QuestionLimits
    metrics: list[Metric]

    def to_dict(self) -> dict[str, Any]:
        dimensions = []
        for dimensions_item_data in self.dimensions:
            dimensions_item = dimensions_item_data.to_dict()
            dimensions.append(dimensions_item)

        intervals = []
        for intervals_item_data in self.intervals:
            intervals_item: str = intervals_item_data
            intervals.append(intervals_item)

        limits = self.limits.to_dict()

        metrics = []
        for metrics_item_data in self.metrics:
            metrics_item = metrics_item_data.to_dict()
            metrics.append(metrics_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "dimensions": dimensions,
                "intervals": intervals,
                "limits": limits,
                "metrics": metrics,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.dimension import Dimension  # noqa: PLC0415
        from ..models.metric import Metric  # noqa: PLC0415
        from ..models.question_limits import QuestionLimits  # noqa: PLC0415

        d = dict(src_dict)
        dimensions = []
        _dimensions = d.pop("dimensions")
        for dimensions_item_data in _dimensions:
            dimensions_item = Dimension.from_dict(dimensions_item_data)

            dimensions.append(dimensions_item)

        intervals = []
        _intervals = d.pop("intervals")
        for intervals_item_data in _intervals:
            intervals_item = check_question_schema_intervals_item(intervals_item_data)

            intervals.append(intervals_item)

        limits = QuestionLimits.from_dict(d.pop("limits"))

        metrics = []
        _metrics = d.pop("metrics")
        for metrics_item_data in _metrics:
            metrics_item = Metric.from_dict(metrics_item_data)

            metrics.append(metrics_item)

        question_schema = cls(
            dimensions=dimensions,
            intervals=intervals,
            limits=limits,
            metrics=metrics,
        )

        return question_schema
