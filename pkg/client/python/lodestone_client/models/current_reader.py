from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="CurrentReader")


@_attrs_define
class CurrentReader:
    """
    Attributes:
        access_link_id (str): Access link of the reader; of several, the one that was read last.
        email (None | str): Address of the reader. Null if the key lacks the scope leads, or the link was deleted.
        last_seen_at (datetime.datetime): When the visit to the page ended.
        lead_magnet_id (str): Lead magnet that is read.
        magnet_version (int): Version of the document; 0: not known.
        page (int | None): Page that was visited last; null if the event named none.
        since (datetime.datetime): First event of the session.
    """

    access_link_id: str
    email: None | str
    last_seen_at: datetime.datetime
    lead_magnet_id: str
    magnet_version: int
    page: int | None
    since: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        email: None | str
        email = self.email

        last_seen_at = self.last_seen_at.isoformat()

        lead_magnet_id = self.lead_magnet_id

        magnet_version = self.magnet_version

        page: int | None
        page = self.page

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "email": email,
                "last_seen_at": last_seen_at,
                "lead_magnet_id": lead_magnet_id,
                "magnet_version": magnet_version,
                "page": page,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        def _parse_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        email = _parse_email(d.pop("email"))

        last_seen_at = datetime.datetime.fromisoformat(d.pop("last_seen_at"))

        lead_magnet_id = d.pop("lead_magnet_id")

        magnet_version = d.pop("magnet_version")

        def _parse_page(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        page = _parse_page(d.pop("page"))

        since = datetime.datetime.fromisoformat(d.pop("since"))

        current_reader = cls(
            access_link_id=access_link_id,
            email=email,
            last_seen_at=last_seen_at,
            lead_magnet_id=lead_magnet_id,
            magnet_version=magnet_version,
            page=page,
            since=since,
        )

        return current_reader
