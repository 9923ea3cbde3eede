from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PageVisit")


@_attrs_define
class PageVisit:
    """
    Attributes:
        magnet_version (int): Version of the document.
        ms (int): How long the page was visible, in milliseconds.
        page (int | None): Null if the event has none.
        start (datetime.datetime): When the page became visible.
    """

    magnet_version: int
    ms: int
    page: int | None
    start: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        magnet_version = self.magnet_version

        ms = self.ms

        page: int | None
        page = self.page

        start = self.start.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "magnet_version": magnet_version,
                "ms": ms,
                "page": page,
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        magnet_version = d.pop("magnet_version")

        ms = d.pop("ms")

        def _parse_page(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        page = _parse_page(d.pop("page"))

        start = datetime.datetime.fromisoformat(d.pop("start"))

        page_visit = cls(
            magnet_version=magnet_version,
            ms=ms,
            page=page,
            start=start,
        )

        return page_visit
