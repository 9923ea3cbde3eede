from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.page_visit import PageVisit
    from ..models.reader_download import ReaderDownload


T = TypeVar("T", bound="ReaderSession")


@_attrs_define
class ReaderSession:
    """
    Attributes:
        access_link_id (str):
        device (str): Kind of device: desktop, mobile, tablet, other or unknown.
        downloads (list[ReaderDownload]): Downloads that began or were completed, in the order of time.
        last_event_at (datetime.datetime):
        lead_magnet_id (str):
        page_views (int): Views of pages.
        pages (int): Different pages viewed.
        reading_ms (int): Sum of the visible times, in milliseconds.
        session_id (None | str): Null for an event that was sent without a session, which is a session by itself.
        started_at (datetime.datetime): First event.
        user_agent (None | str): Null if withheld.
        visits (list[PageVisit]): Page views, in the order of time.
    """

    access_link_id: str
    device: str
    downloads: list[ReaderDownload]
    last_event_at: datetime.datetime
    lead_magnet_id: str
    page_views: int
    pages: int
    reading_ms: int
    session_id: None | str
    started_at: datetime.datetime
    user_agent: None | str
    visits: list[PageVisit]

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        device = self.device

        downloads = []
        for downloads_item_data in self.downloads:
            downloads_item = downloads_item_data.to_dict()
            downloads.append(downloads_item)

        last_event_at = self.last_event_at.isoformat()

        lead_magnet_id = self.lead_magnet_id

        page_views = self.page_views

        pages = self.pages

        reading_ms = self.reading_ms

        session_id: None | str
        session_id = self.session_id

        started_at = self.started_at.isoformat()

        user_agent: None | str
        user_agent = self.user_agent

        visits = []
        for visits_item_data in self.visits:
            visits_item = visits_item_data.to_dict()
            visits.append(visits_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "device": device,
                "downloads": downloads,
                "last_event_at": last_event_at,
                "lead_magnet_id": lead_magnet_id,
                "page_views": page_views,
                "pages": pages,
                "reading_ms": reading_ms,
                "session_id": session_id,
                "started_at": started_at,
                "user_agent": user_agent,
                "visits": visits,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.page_visit import PageVisit  # noqa: PLC0415
        from ..models.reader_download import ReaderDownload  # noqa: PLC0415

        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        device = d.pop("device")

        downloads = []
        _downloads = d.pop("downloads")
        for downloads_item_data in _downloads:
            downloads_item = ReaderDownload.from_dict(downloads_item_data)

            downloads.append(downloads_item)

        last_event_at = datetime.datetime.fromisoformat(d.pop("last_event_at"))

        lead_magnet_id = d.pop("lead_magnet_id")

        page_views = d.pop("page_views")

        pages = d.pop("pages")

        reading_ms = d.pop("reading_ms")

        def _parse_session_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        session_id = _parse_session_id(d.pop("session_id"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        def _parse_user_agent(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_agent = _parse_user_agent(d.pop("user_agent"))

        visits = []
        _visits = d.pop("visits")
        for visits_item_data in _visits:
            visits_item = PageVisit.from_dict(visits_item_data)

            visits.append(visits_item)

        reader_session = cls(
            access_link_id=access_link_id,
            device=device,
            downloads=downloads,
            last_event_at=last_event_at,
            lead_magnet_id=lead_magnet_id,
            page_views=page_views,
            pages=pages,
            reading_ms=reading_ms,
            session_id=session_id,
            started_at=started_at,
            user_agent=user_agent,
            visits=visits,
        )

        return reader_session
