from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedAccessLink")


@_attrs_define
class ChangedAccessLink:
    """
    Attributes:
        expires_at (datetime.datetime | None | Unset): When it expires (ISO 8601, in the future); null for never.
        is_active (bool | Unset): Whether it can be opened.
        max_views (int | None | Unset): How many times it can be opened; null for no limit.
    """

    expires_at: datetime.datetime | None | Unset = UNSET
    is_active: bool | Unset = UNSET
    max_views: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        is_active = self.is_active

        max_views: int | None | Unset
        if isinstance(self.max_views, Unset):
            max_views = UNSET
        else:
            max_views = self.max_views

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if max_views is not UNSET:
            field_dict["max_views"] = max_views

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        is_active = d.pop("is_active", UNSET)

        def _parse_max_views(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_views = _parse_max_views(d.pop("max_views", UNSET))

        changed_access_link = cls(
            expires_at=expires_at,
            is_active=is_active,
            max_views=max_views,
        )

        return changed_access_link
