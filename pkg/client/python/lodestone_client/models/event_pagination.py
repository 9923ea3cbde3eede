from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="EventPagination")


@_attrs_define
class EventPagination:
    """
    Attributes:
        next_cursor (None | str): Cursor of the next page; null on the last page.
        next_received_after (datetime.datetime): Value of received_after for the next fetch of new events. It lies some
            seconds in the past, so that events being stored now are not missed. A few events therefore appear twice;
            identify them by access_link_id and id. When you follow cursors, every page has the value of the first page.
            With numbered pages, use the value of the first page.
        page (int | None): Number of this page, from 1. Null for pages requested by cursor.
        per_page (int): Elements per page.
        total (int): Elements on all pages.
        total_pages (int): Number of pages.
    """

    next_cursor: None | str
    next_received_after: datetime.datetime
    page: int | None
    per_page: int
    total: int
    total_pages: int

    def to_dict(self) -> dict[str, Any]:
        next_cursor: None | str
        next_cursor = self.next_cursor

        next_received_after = self.next_received_after.isoformat()

        page: int | None
        page = self.page

        per_page = self.per_page

        total = self.total

        total_pages = self.total_pages

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "next_cursor": next_cursor,
                "next_received_after": next_received_after,
                "page": page,
                "per_page": per_page,
                "total": total,
                "total_pages": total_pages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_next_cursor(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_cursor = _parse_next_cursor(d.pop("next_cursor"))

        next_received_after = datetime.datetime.fromisoformat(d.pop("next_received_after"))

        def _parse_page(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        page = _parse_page(d.pop("page"))

        per_page = d.pop("per_page")

        total = d.pop("total")

        total_pages = d.pop("total_pages")

        event_pagination = cls(
            next_cursor=next_cursor,
            next_received_after=next_received_after,
            page=page,
            per_page=per_page,
            total=total,
            total_pages=total_pages,
        )

        return event_pagination
