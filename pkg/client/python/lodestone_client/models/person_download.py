from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonDownload")


@_attrs_define
class PersonDownload:
    """
    Attributes:
        completed_at (datetime.datetime | None): When the whole file had been sent.
        id (str):
        session_id (str):
        started_at (datetime.datetime):
    """

    completed_at: datetime.datetime | None
    id: str
    session_id: str
    started_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        id = self.id

        session_id = self.session_id

        started_at = self.started_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "completed_at": completed_at,
                "id": id,
                "session_id": session_id,
                "started_at": started_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        id = d.pop("id")

        session_id = d.pop("session_id")

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        person_download = cls(
            completed_at=completed_at,
            id=id,
            session_id=session_id,
            started_at=started_at,
        )

        return person_download
