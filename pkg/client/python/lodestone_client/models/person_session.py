from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonSession")


@_attrs_define
class PersonSession:
    """
    Attributes:
        access_link_id (str):
        duration_ms (int): Visible time.
        ended_at (datetime.datetime | None): Null if it may go on.
        id (str): session_id of its events.
        last_active_at (datetime.datetime):
        magnet_version (int): Version of the document.
        pages (list[int]): Pages viewed.
        started_at (datetime.datetime):
    """

    access_link_id: str
    duration_ms: int
    ended_at: datetime.datetime | None
    id: str
    last_active_at: datetime.datetime
    magnet_version: int
    pages: list[int]
    started_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        duration_ms = self.duration_ms

        ended_at: None | str
        if isinstance(self.ended_at, datetime.datetime):
            ended_at = self.ended_at.isoformat()
        else:
            ended_at = self.ended_at

        id = self.id

        last_active_at = self.last_active_at.isoformat()

        magnet_version = self.magnet_version

        pages = self.pages

        started_at = self.started_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "duration_ms": duration_ms,
                "ended_at": ended_at,
                "id": id,
                "last_active_at": last_active_at,
                "magnet_version": magnet_version,
                "pages": pages,
                "started_at": started_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        duration_ms = d.pop("duration_ms")

        def _parse_ended_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_at_type_0 = datetime.datetime.fromisoformat(data)

                return ended_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended_at = _parse_ended_at(d.pop("ended_at"))

        id = d.pop("id")

        last_active_at = datetime.datetime.fromisoformat(d.pop("last_active_at"))

        magnet_version = d.pop("magnet_version")

        pages = cast(list[int], d.pop("pages"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        person_session = cls(
            access_link_id=access_link_id,
            duration_ms=duration_ms,
            ended_at=ended_at,
            id=id,
            last_active_at=last_active_at,
            magnet_version=magnet_version,
            pages=pages,
            started_at=started_at,
        )

        return person_session
