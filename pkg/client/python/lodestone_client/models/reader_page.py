from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.cursor_pagination import CursorPagination
    from ..models.reader import Reader
    from ..models.reader_page_labels import ReaderPageLabels


T = TypeVar("T", bound="ReaderPage")


@_attrs_define
class ReaderPage:
    """
    Attributes:
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be. Pages that are
            requested by cursor have the time of the first page.
        data (list[Reader]):
        excluded_bots (int): Events of bots that match the filters on events and were left out: min_pages, reached,
            stopped_at, finished, downloaded and from_form are about people.
        labels (ReaderPageLabels): Titles of the lead magnets.
        pagination (CursorPagination):
    """

    as_of: datetime.datetime
    data: list[Reader]
    excluded_bots: int
    labels: ReaderPageLabels
    pagination: CursorPagination

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        excluded_bots = self.excluded_bots

        labels = self.labels.to_dict()

        pagination = self.pagination.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "as_of": as_of,
                "data": data,
                "excluded_bots": excluded_bots,
                "labels": labels,
                "pagination": pagination,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cursor_pagination import CursorPagination  # noqa: PLC0415
        from ..models.reader import Reader  # noqa: PLC0415
        from ..models.reader_page_labels import ReaderPageLabels  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Reader.from_dict(data_item_data)

            data.append(data_item)

        excluded_bots = d.pop("excluded_bots")

        labels = ReaderPageLabels.from_dict(d.pop("labels"))

        pagination = CursorPagination.from_dict(d.pop("pagination"))

        reader_page = cls(
            as_of=as_of,
            data=data,
            excluded_bots=excluded_bots,
            labels=labels,
            pagination=pagination,
        )

        return reader_page
