from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.funnel_step import FunnelStep


T = TypeVar("T", bound="FunnelReport")


@_attrs_define
class FunnelReport:
    """
    Attributes:
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be.
        data (list[FunnelStep]): The steps in their order.
        excluded_bots (int): Views and events of bots in the period that were left out.
    """

    as_of: datetime.datetime
    data: list[FunnelStep]
    excluded_bots: int

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        excluded_bots = self.excluded_bots

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "as_of": as_of,
                "data": data,
                "excluded_bots": excluded_bots,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.funnel_step import FunnelStep  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = FunnelStep.from_dict(data_item_data)

            data.append(data_item)

        excluded_bots = d.pop("excluded_bots")

        funnel_report = cls(
            as_of=as_of,
            data=data,
            excluded_bots=excluded_bots,
        )

        return funnel_report
