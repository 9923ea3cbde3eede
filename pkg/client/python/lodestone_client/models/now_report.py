from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.current_reader import CurrentReader
    from ..models.now_report_labels import NowReportLabels


T = TypeVar("T", bound="NowReport")


@_attrs_define
class NowReport:
    """
    Attributes:
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be.
        data (list[CurrentReader]): At most 1,000 readers, the one seen last first.
        excluded_bots (int): Page views of bots in the same minutes that were left out.
        labels (NowReportLabels): Titles of the lead magnets.
        readers (int): How many readers there are: all access links of an address are one.
    """

    as_of: datetime.datetime
    data: list[CurrentReader]
    excluded_bots: int
    labels: NowReportLabels
    readers: int

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        excluded_bots = self.excluded_bots

        labels = self.labels.to_dict()

        readers = self.readers

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "as_of": as_of,
                "data": data,
                "excluded_bots": excluded_bots,
                "labels": labels,
                "readers": readers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.current_reader import CurrentReader  # noqa: PLC0415
        from ..models.now_report_labels import NowReportLabels  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = CurrentReader.from_dict(data_item_data)

            data.append(data_item)

        excluded_bots = d.pop("excluded_bots")

        labels = NowReportLabels.from_dict(d.pop("labels"))

        readers = d.pop("readers")

        now_report = cls(
            as_of=as_of,
            data=data,
            excluded_bots=excluded_bots,
            labels=labels,
            readers=readers,
        )

        return now_report
