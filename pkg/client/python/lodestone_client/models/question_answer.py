from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.question_answer_labels import QuestionAnswerLabels
    from ..models.question_answer_rows_item import QuestionAnswerRowsItem
    from ..models.question_answer_totals import QuestionAnswerTotals


T = TypeVar("T", bound="QuestionAnswer")


@_attrs_define
class QuestionAnswer:
    """
    Attributes:
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be.
        excluded_bots (int): Events and views of bots that match range and filters, and were left out.
        id (None | str): The id of the question.
        labels (QuestionAnswerLabels): Titles or slugs of the ids in the rows.
        rows (list[QuestionAnswerRowsItem]): By time, then by order_by. The row other has all values without a row of
            their own; distinct counts of it are counted, so rows need not add up to totals.
        totals (QuestionAnswerTotals): The metrics over the whole range, counted rather than summed.
    """

    as_of: datetime.datetime
    excluded_bots: int
    id: None | str
    labels: QuestionAnswerLabels
    rows: list[QuestionAnswerRowsItem]
    totals: QuestionAnswerTotals

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        excluded_bots = self.excluded_bots

        id: None | str
        id = self.id

        labels = self.labels.to_dict()

        rows = []
        for rows_item_data in self.rows:
            rows_item = rows_item_data.to_dict()
            rows.append(rows_item)

        totals = self.totals.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "as_of": as_of,
                "excluded_bots": excluded_bots,
                "id": id,
                "labels": labels,
                "rows": rows,
                "totals": totals,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.question_answer_labels import QuestionAnswerLabels  # noqa: PLC0415
        from ..models.question_answer_rows_item import QuestionAnswerRowsItem  # noqa: PLC0415
        from ..models.question_answer_totals import QuestionAnswerTotals  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        excluded_bots = d.pop("excluded_bots")

        def _parse_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        id = _parse_id(d.pop("id"))

        labels = QuestionAnswerLabels.from_dict(d.pop("labels"))

        rows = []
        _rows = d.pop("rows")
        for rows_item_data in _rows:
            rows_item = QuestionAnswerRowsItem.from_dict(rows_item_data)

            rows.append(rows_item)

        totals = QuestionAnswerTotals.from_dict(d.pop("totals"))

        question_answer = cls(
            as_of=as_of,
            excluded_bots=excluded_bots,
            id=id,
            labels=labels,
            rows=rows,
            totals=totals,
        )

        return question_answer
