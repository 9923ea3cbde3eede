from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.page import Page


T = TypeVar("T", bound="PageReport")


@_attrs_define
class PageReport:
    """
    Attributes:
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be.
        data (list[Page]): Every page of the version, also if no one viewed it. Where the number of pages is not known,
            up to the last page viewed. Beyond page 10,000 only pages that were viewed.
        excluded_bots (int): Page views of bots that were left out; of all versions if magnet_version is null.
        magnet_version (int | None): Version that is reported; null if no one read the lead magnet in the period.
    """

    as_of: datetime.datetime
    data: list[Page]
    excluded_bots: int
    magnet_version: int | None

    def to_dict(self) -> dict[str, Any]:
        as_of = self.as_of.isoformat()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        excluded_bots = self.excluded_bots

        magnet_version: int | None
        magnet_version = self.magnet_version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "as_of": as_of,
                "data": data,
                "excluded_bots": excluded_bots,
                "magnet_version": magnet_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.page import Page  # noqa: PLC0415

        d = dict(src_dict)
        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Page.from_dict(data_item_data)

            data.append(data_item)

        excluded_bots = d.pop("excluded_bots")

        def _parse_magnet_version(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        magnet_version = _parse_magnet_version(d.pop("magnet_version"))

        page_report = cls(
            as_of=as_of,
            data=data,
            excluded_bots=excluded_bots,
            magnet_version=magnet_version,
        )

        return page_report
