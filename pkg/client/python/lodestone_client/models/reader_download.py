from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.reader_download_event_type import (
    ReaderDownloadEventType,
    check_reader_download_event_type,
)

T = TypeVar("T", bound="ReaderDownload")


@_attrs_define
class ReaderDownload:
    """
    Attributes:
        created_at (datetime.datetime):
        event_type (ReaderDownloadEventType):
    """

    created_at: datetime.datetime
    event_type: ReaderDownloadEventType

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        event_type: str = self.event_type

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "event_type": event_type,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        event_type = check_reader_download_event_type(d.pop("event_type"))

        reader_download = cls(
            created_at=created_at,
            event_type=event_type,
        )

        return reader_download
