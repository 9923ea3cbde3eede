from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.reader_link_source import ReaderLinkSource, check_reader_link_source

T = TypeVar("T", bound="ReaderLink")


@_attrs_define
class ReaderLink:
    """
    Attributes:
        created_at (datetime.datetime):
        expires_at (datetime.datetime | None): When it expires; null for never.
        generic_link_id (None | str): Generic link that it came from.
        id (str):
        is_active (bool): Whether it can be opened.
        lead_magnet_id (str):
        max_views (int | None): How many times it can be opened; null for no limit.
        source (ReaderLinkSource): How its URL was handed out. One that a form showed (form) may be read by whoever
            typed the address.
        submission_id (None | str): Submission that it was created for.
    """

    created_at: datetime.datetime
    expires_at: datetime.datetime | None
    generic_link_id: None | str
    id: str
    is_active: bool
    lead_magnet_id: str
    max_views: int | None
    source: ReaderLinkSource
    submission_id: None | str

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        generic_link_id: None | str
        generic_link_id = self.generic_link_id

        id = self.id

        is_active = self.is_active

        lead_magnet_id = self.lead_magnet_id

        max_views: int | None
        max_views = self.max_views

        source: str = self.source

        submission_id: None | str
        submission_id = self.submission_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "expires_at": expires_at,
                "generic_link_id": generic_link_id,
                "id": id,
                "is_active": is_active,
                "lead_magnet_id": lead_magnet_id,
                "max_views": max_views,
                "source": source,
                "submission_id": submission_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        def _parse_generic_link_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        generic_link_id = _parse_generic_link_id(d.pop("generic_link_id"))

        id = d.pop("id")

        is_active = d.pop("is_active")

        lead_magnet_id = d.pop("lead_magnet_id")

        def _parse_max_views(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_views = _parse_max_views(d.pop("max_views"))

        source = check_reader_link_source(d.pop("source"))

        def _parse_submission_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        submission_id = _parse_submission_id(d.pop("submission_id"))

        reader_link = cls(
            created_at=created_at,
            expires_at=expires_at,
            generic_link_id=generic_link_id,
            id=id,
            is_active=is_active,
            lead_magnet_id=lead_magnet_id,
            max_views=max_views,
            source=source,
            submission_id=submission_id,
        )

        return reader_link
