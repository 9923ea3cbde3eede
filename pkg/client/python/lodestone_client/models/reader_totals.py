from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.reader_score import ReaderScore


T = TypeVar("T", bound="ReaderTotals")


@_attrs_define
class ReaderTotals:
    """
    Attributes:
        downloads (int): Completed downloads.
        finished (bool): Whether the last page of some version of a document was viewed.
        first_seen_at (datetime.datetime | None): First event; null if there is none.
        last_seen_at (datetime.datetime | None): Last event; null if there is none.
        magnets (list[str]): Lead magnets of the events; labels has their titles.
        page_views (int): Views of pages.
        pages (int): Different pages viewed, of all versions of all lead magnets.
        reading_ms (int): Sum of the visible times of these views, in milliseconds.
        score (int): How interested the person seems: the sum of score_parts.
        score_parts (ReaderScore):
        sessions (int): Openings with a page view.
    """

    downloads: int
    finished: bool
    first_seen_at: datetime.datetime | None
    last_seen_at: datetime.datetime | None
    magnets: list[str]
    page_views: int
    pages: int
    reading_ms: int
    score: int
    score_parts: ReaderScore
    sessions: int

    def to_dict(self) -> dict[str, Any]:
        downloads = self.downloads

        finished = self.finished

        first_seen_at: None | str
        if isinstance(self.first_seen_at, datetime.datetime):
            first_seen_at = self.first_seen_at.isoformat()
        else:
            first_seen_at = self.first_seen_at

        last_seen_at: None | str
        if isinstance(self.last_seen_at, datetime.datetime):
            last_seen_at = self.last_seen_at.isoformat()
        else:
            last_seen_at = self.last_seen_at

        magnets = self.magnets

        page_views = self.page_views

        pages = self.pages

        reading_ms = self.reading_ms

        score = self.score

        score_parts = self.score_parts.to_dict()

        sessions = self.sessions

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "downloads": downloads,
                "finished": finished,
                "first_seen_at": first_seen_at,
                "last_seen_at": last_seen_at,
                "magnets": magnets,
                "page_views": page_views,
                "pages": pages,
                "reading_ms": reading_ms,
                "score": score,
                "score_parts": score_parts,
                "sessions": sessions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.reader_score import ReaderScore  # noqa: PLC0415

        d = dict(src_dict)
        downloads = d.pop("downloads")

        finished = d.pop("finished")

        def _parse_first_seen_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                first_seen_at_type_0 = datetime.datetime.fromisoformat(data)

                return first_seen_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        first_seen_at = _parse_first_seen_at(d.pop("first_seen_at"))

        def _parse_last_seen_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_seen_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_seen_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_seen_at = _parse_last_seen_at(d.pop("last_seen_at"))

        magnets = cast(list[str], d.pop("magnets"))

        page_views = d.pop("page_views")

        pages = d.pop("pages")

        reading_ms = d.pop("reading_ms")

        score = d.pop("score")

        score_parts = ReaderScore.from_dict(d.pop("score_parts"))

        sessions = d.pop("sessions")

        reader_totals = cls(
            downloads=downloads,
            finished=finished,
            first_seen_at=first_seen_at,
            last_seen_at=last_seen_at,
            magnets=magnets,
            page_views=page_views,
            pages=pages,
            reading_ms=reading_ms,
            score=score,
            score_parts=score_parts,
            sessions=sessions,
        )

        return reader_totals
