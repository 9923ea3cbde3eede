from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.question_compare import QuestionCompare, check_question_compare
from ..models.question_dimensions_item import (
    QuestionDimensionsItem,
    check_question_dimensions_item,
)
from ..models.question_interval import QuestionInterval, check_question_interval
from ..models.question_metrics_item import (
    QuestionMetricsItem,
    check_question_metrics_item,
)
from ..models.question_order_by import QuestionOrderBy, check_question_order_by
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.values import Values


T = TypeVar("T", bound="Question")


@_attrs_define
class Question:
    """
    Attributes:
        compare (QuestionCompare | Unset): Add the numbers of as many calendar units before.
        dimensions (list[QuestionDimensionsItem] | Unset): Divide by values, at most two.
        exclude (Values | Unset):
        filters (Values | Unset):
        from_ (str | Unset): Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before
            its end.
        id (str | Unset): Your name for the question; the answer repeats it.
        include_bots (bool | Unset): Count bots as well.
        interval (QuestionInterval | Unset): Divide the range by calendar units. Weeks begin on Monday. Intervals
            without data are included.
        limit (int | Unset): Values that get a row of their own. All others are one more row, other.
        metrics (list[QuestionMetricsItem] | Unset): What to count. Required, unless the body has queries.
        order_by (QuestionOrderBy | Unset): One of the metrics; - before it puts the highest first. Default: the first
            metric, highest first.
        timezone (str | Unset): IANA time zone of dates and intervals. Default: UTC.
        to (str | Unset): End of the range, exclusive. Default: the end of today.
    """

    compare: QuestionCompare | Unset = UNSET
    dimensions: list[QuestionDimensionsItem] | Unset = UNSET
    exclude: Values | Unset = UNSET
    filters: Values | Unset = UNSET
    from_: str | Unset = UNSET
    id: str | Unset = UNSET
    include_bots: bool | Unset = UNSET
    interval: QuestionInterval | Unset = UNSET
    limit: int | Unset = UNSET
    metrics: list[QuestionMetricsItem] | Unset = UNSET
    order_by: QuestionOrderBy | Unset = UNSET
    timezone: str | Unset = UNSET
    to: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        compare: str | Unset = UNSET
        if not isinstance(self.compare, Unset):
            compare = self.compare

        dimensions: list[str] | Unset = UNSET
        if not isinstance(self.dimensions, Unset):
            dimensions = []
            for dimensions_item_data in self.dimensions:
                dimensions_item: str = dimensions_item_data
                dimensions.append(dimensions_item)

        exclude: dict[str, Any] | Unset = UNSET
        if not isinstance(self.exclude, Unset):
            exclude = self.exclude.to_dict()

        filters: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filters, Unset):
            filters = self.filters.to_dict()

        from_ = self.from_

        id = self.id

        include_bots = self.include_bots

        interval: str | Unset = UNSET
        if not isinstance(self.interval, Unset):
            interval = self.interval

        limit = self.limit

        metrics: list[str] | Unset = UNSET
        if not isinstance(self.metrics, Unset):
            metrics = []
            for metrics_item_data in self.metrics:
                metrics_item: str = metrics_item_data
                metrics.append(metrics_item)

        order_by: str | Unset = UNSET
        if not isinstance(self.order_by, Unset):
            order_by = self.order_by

        timezone = self.timezone

        to = self.to

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if compare is not UNSET:
            field_dict["compare"] = compare
        if dimensions is not UNSET:
            field_dict["dimensions"] = dimensions
        if exclude is not UNSET:
            field_dict["exclude"] = exclude
        if filters is not UNSET:
            field_dict["filters"] = filters
        if from_ is not UNSET:
            field_dict["from"] = from_
        if id is not UNSET:
            field_dict["id"] = id
        if include_bots is not UNSET:
            field_dict["include_bots"] = include_bots
        if interval is not UNSET:
            field_dict["interval"] = interval
        if limit is not UNSET:
            field_dict["limit"] = limit
        if metrics is not UNSET:
            field_dict["metrics"] = metrics
        if order_by is not UNSET:
            field_dict["order_by"] = order_by
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.values import Values  # noqa: PLC0415

        d = dict(src_dict)
        _compare = d.pop("compare", UNSET)
        compare: QuestionCompare | Unset
        if isinstance(_compare, Unset):
            compare = UNSET
        else:
            compare = check_question_compare(_compare)

        _dimensions = d.pop("dimensions", UNSET)
        dimensions: list[QuestionDimensionsItem] | Unset = UNSET
        if _dimensions is not UNSET:
            dimensions = []
            for dimensions_item_data in _dimensions:
                dimensions_item = check_question_dimensions_item(dimensions_item_data)

                dimensions.append(dimensions_item)

        _exclude = d.pop("exclude", UNSET)
        exclude: Values | Unset
        if isinstance(_exclude, Unset):
            exclude = UNSET
        else:
            exclude = Values.from_dict(_exclude)

        _filters = d.pop("filters", UNSET)
        filters: Values | Unset
        if isinstance(_filters, Unset):
            filters = UNSET
        else:
            filters = Values.from_dict(_filters)

        from_ = d.pop("from", UNSET)

        id = d.pop("id", UNSET)

        include_bots = d.pop("include_bots", UNSET)

        _interval = d.pop("interval", UNSET)
        interval: QuestionInterval | Unset
        if isinstance(_interval, Unset):
            interval = UNSET
        else:
            interval = check_question_interval(_interval)

        limit = d.pop("limit", UNSET)

        _metrics = d.pop("metrics", UNSET)
        metrics: list[QuestionMetricsItem] | Unset = UNSET
        if _metrics is not UNSET:
            metrics = []
            for metrics_item_data in _metrics:
                metrics_item = check_question_metrics_item(metrics_item_data)

                metrics.append(metrics_item)

        _order_by = d.pop("order_by", UNSET)
        order_by: QuestionOrderBy | Unset
        if isinstance(_order_by, Unset):
            order_by = UNSET
        else:
            order_by = check_question_order_by(_order_by)

        timezone = d.pop("timezone", UNSET)

        to = d.pop("to", UNSET)

        question = cls(
            compare=compare,
            dimensions=dimensions,
            exclude=exclude,
            filters=filters,
            from_=from_,
            id=id,
            include_bots=include_bots,
            interval=interval,
            limit=limit,
            metrics=metrics,
            order_by=order_by,
            timezone=timezone,
            to=to,
        )

        return question
