from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="QuestionLimits")


@_attrs_define
class QuestionLimits:
    """
    Attributes:
        dimensions (int): Dimensions of a question.
        intervals (int): Intervals of a range.
        limit (int): Highest limit, and so rows of an interval without the row other.
        metrics (int): Metrics of a question.
        queries (int): Questions in one request.
        rows (int): Rows of an answer.
        values (int): Values of a filter.
    """

    dimensions: int
    intervals: int
    limit: int
    metrics: int
    queries: int
    rows: int
    values: int

    def to_dict(self) -> dict[str, Any]:
        dimensions = self.dimensions

        intervals = self.intervals

        limit = self.limit

        metrics = self.metrics

        queries = self.queries

        rows = self.rows

        values = self.values

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "dimensions": dimensions,
                "intervals": intervals,
                "limit": limit,
                "metrics": metrics,
                "queries": queries,
                "rows": rows,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        dimensions = d.pop("dimensions")

        intervals = d.pop("intervals")

        limit = d.pop("limit")

        metrics = d.pop("metrics")

        queries = d.pop("queries")

        rows = d.pop("rows")

        values = d.pop("values")

        question_limits = cls(
            dimensions=dimensions,
            intervals=intervals,
            limit=limit,
            metrics=metrics,
            queries=queries,
            rows=rows,
            values=values,
        )

        return question_limits
