from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Page")


@_attrs_define
class Page:
    """
    Attributes:
        median_ms (float | None): Median visible time of the views that have one, in milliseconds; each view counts at
            most 10 minutes.
        p90_ms (float | None): 90th percentile of the same times.
        page (int): Number of the page, from 1.
        people_reached (int): People whose furthest page is at least this one: all access links of an address are one.
        people_stopped (int): People whose furthest page is this one.
        reached (int): Readers whose furthest page is at least this one.
        readers (int): Access links with at least one view of the page.
        reread (int): Readers with more than one view of the page.
        stopped (int): Readers whose furthest page is this one.
        views (int): Views of the page.
    """

    median_ms: float | None
    p90_ms: float | None
    page: int
    people_reached: int
    people_stopped: int
    reached: int
    readers: int
    reread: int
    stopped: int
    views: int

    def to_dict(self) -> dict[str, Any]:
        median_ms: float | None
        median_ms = self.median_ms

        p90_ms: float | None
        p90_ms = self.p90_ms

        page = self.page

        people_reached = self.people_reached

        people_stopped = self.people_stopped

        reached = self.reached

        readers = self.readers

        reread = self.reread

        stopped = self.stopped

        views = self.views

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "median_ms": median_ms,
                "p90_ms": p90_ms,
                "page": page,
                "people_reached": people_reached,
                "people_stopped": people_stopped,
                "reached": reached,
                "readers": readers,
                "reread": reread,
                "stopped": stopped,
                "views": views,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_median_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        median_ms = _parse_median_ms(d.pop("median_ms"))

        def _parse_p90_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p90_ms = _parse_p90_ms(d.pop("p90_ms"))

        page = d.pop("page")

        people_reached = d.pop("people_reached")

        people_stopped = d.pop("people_stopped")

        reached = d.pop("reached")

        readers = d.pop("readers")

        reread = d.pop("reread")

        stopped = d.pop("stopped")

        views = d.pop("views")

        page_ = cls(
            median_ms=median_ms,
            p90_ms=p90_ms,
            page=page,
            people_reached=people_reached,
            people_stopped=people_stopped,
            reached=reached,
            readers=readers,
            reread=reread,
            stopped=stopped,
            views=views,
        )

        return page_
