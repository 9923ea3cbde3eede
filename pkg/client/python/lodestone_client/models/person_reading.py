from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonReading")


@_attrs_define
class PersonReading:
    """
    Attributes:
        duration_ms (int): Visible time.
        email (str):
        news (list[str]): What the reader did: finished, downloaded, returned, opened.
        pages (int): Pages that were viewed.
        started_at (datetime.datetime):
        title (str): Title of the document.
    """

    duration_ms: int
    email: str
    news: list[str]
    pages: int
    started_at: datetime.datetime
    title: str

    def to_dict(self) -> dict[str, Any]:
        duration_ms = self.duration_ms

        email = self.email

        news = self.news

        pages = self.pages

        started_at = self.started_at.isoformat()

        title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "duration_ms": duration_ms,
                "email": email,
                "news": news,
                "pages": pages,
                "started_at": started_at,
                "title": title,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        duration_ms = d.pop("duration_ms")

        email = d.pop("email")

        news = cast(list[str], d.pop("news"))

        pages = d.pop("pages")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        title = d.pop("title")

        person_reading = cls(
            duration_ms=duration_ms,
            email=email,
            news=news,
            pages=pages,
            started_at=started_at,
            title=title,
        )

        return person_reading
