from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.questions_compare import QuestionsCompare, check_questions_compare
from ..models.questions_dimensions_item import (
    QuestionsDimensionsItem,
    check_questions_dimensions_item,
)
from ..models.questions_interval import QuestionsInterval, check_questions_interval
from ..models.questions_metrics_item import (
    QuestionsMetricsItem,
    check_questions_metrics_item,
)
from ..models.questions_order_by import QuestionsOrderBy, check_questions_order_by
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.question import Question
    from ..models.values import Values


T = TypeVar("T", bound="Questions")


@_attrs_define
class Questions:
    """
    Attributes:
        compare (QuestionsCompare | Unset): Add the numbers of as many calendar units before.
        dimensions (list[QuestionsDimensionsItem] | Unset): Divide by values, at most two.
        exclude (Values | Unset):
        filters (Values | Unset):
        from_ (str | Unset): Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before
            its end.
        id (str | Unset): Your name for the question; the answer repeats it.
        include_bots (bool | Unset): Count bots as well.
        interval (QuestionsInterval | Unset): Divide the range by calendar units. Weeks begin on Monday. Intervals
            without data are included.
        limit (int | Unset): Values that get a row of their own. All others are one more row, other.
        metrics (list[QuestionsMetricsItem] | Unset): What to count. Required, unless the body has queries.
        order_by (QuestionsOrderBy | Unset): One of the metrics; - before it puts the highest first. Default: the first
            metric, highest first.
        queries (list[Question] | Unset): Several questions, which are answered from one state of the data. No other
            field may be given with it.
        timezone (str | Unset): IANA time zone of dates and intervals. Default: UTC.
        to (str | Unset): End of the range, exclusive. Default: the end of today.
    """

    compare: QuestionsCompare | Unset = UNSET
    dimensions: list[QuestionsDimensionsItem] | Unset = UNSET
    exclude: Values | Unset = UNSET
    filters: Values | Unset = UNSET
    from_: str | Unset = UNSET
    id: str | Unset = UNSET
    include_bots: bool | Unset = UNSET
    interval: QuestionsInterval | Unset = UNSET
    limit: int | Unset = UNSET
    metrics: list[QuestionsMetricsItem] | Unset = UNSET
    order_by: QuestionsOrderBy | Unset = UNSET
    queries: list[Question] | Unset = UNSET
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

        queries: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.queries, Unset):
            queries = []
            for queries_item_data in self.queries:
                queries_item = queries_item_data.to_dict()
                queries.append(queries_item)

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
        if queries is not UNSET:
            field_dict["queries"] = queries
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.question import Question  # noqa: PLC0415
        from ..models.values import Values  # noqa: PLC0415

        d = dict(src_dict)
        _compare = d.pop("compare", UNSET)
        compare: QuestionsCompare | Unset
        if isinstance(_compare, Unset):
            compare = UNSET
        else:
            compare = check_questions_compare(_compare)

        _dimensions = d.pop("dimensions", UNSET)
        dimensions: list[QuestionsDimensionsItem] | Unset = UNSET
        if _dimensions is not UNSET:
            dimensions = []
            for dimensions_item_data in _dimensions:
                dimensions_item = check_questions_dimensions_item(dimensions_item_data)

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
        interval: QuestionsInterval | Unset
        if isinstance(_interval, Unset):
            interval = UNSET
        else:
            interval = check_questions_interval(_interval)

        limit = d.pop("limit", UNSET)

        _metrics = d.pop("metrics", UNSET)
        metrics: list[QuestionsMetricsItem] | Unset = UNSET
        if _metrics is not UNSET:
            metrics = []
            for metrics_item_data in _metrics:
                metrics_item = check_questions_metrics_item(metrics_item_data)

                metrics.append(metrics_item)

        _order_by = d.pop("order_by", UNSET)
        order_by: QuestionsOrderBy | Unset
        if isinstance(_order_by, Unset):
            order_by = UNSET
        else:
            order_by = check_questions_order_by(_order_by)

        _queries = d.pop("queries", UNSET)
        queries: list[Question] | Unset = UNSET
        if _queries is not UNSET:
            queries = []
            for queries_item_data in _queries:
                queries_item = Question.from_dict(queries_item_data)

                queries.append(queries_item)

        timezone = d.pop("timezone", UNSET)

        to = d.pop("to", UNSET)

        questions = cls(
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
            queries=queries,
            timezone=timezone,
            to=to,
        )

        return questions
