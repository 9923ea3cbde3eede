from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="NewShare")


@_attrs_define
class NewShare:
    """
    Attributes:
        created_at (datetime.datetime): When it was created.
        expires_at (datetime.datetime | None): When it expires; null for never.
        has_password (bool): Whether its page asks for a password.
        id (str): Unique identifier.
        last_viewed_at (datetime.datetime | None): When its page was last shown; null for never.
        lead_magnet_id (str): Lead magnet whose statistics it shows.
        name (None | str): Name of the link, which its page does not show.
        url (str): Full URL. Whoever has it, and the password if there is one, sees the statistics. It is shown only
            once.
        view_count (int): How often its page was shown.
    """

    created_at: datetime.datetime
    expires_at: datetime.datetime | None
    has_password: bool
    id: str
    last_viewed_at: datetime.datetime | None
    lead_magnet_id: str
    name: None | str
    url: str
    view_count: int

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        has_password = self.has_password

        id = self.id

        last_viewed_at: None | str
        if isinstance(self.last_viewed_at, datetime.datetime):
            last_viewed_at = self.last_viewed_at.isoformat()
        else:
            last_viewed_at = self.last_viewed_at

        lead_magnet_id = self.lead_magnet_id

        name: None | str
        name = self.name

        url = self.url

        view_count = self.view_count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "expires_at": expires_at,
                "has_password": has_password,
                "id": id,
                "last_viewed_at": last_viewed_at,
                "lead_magnet_id": lead_magnet_id,
                "name": name,
                "url": url,
                "view_count": view_count,
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

        has_password = d.pop("has_password")

        id = d.pop("id")

        def _parse_last_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_viewed_at = _parse_last_viewed_at(d.pop("last_viewed_at"))

        lead_magnet_id = d.pop("lead_magnet_id")

        def _parse_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        name = _parse_name(d.pop("name"))

        url = d.pop("url")

        view_count = d.pop("view_count")

        new_share = cls(
            created_at=created_at,
            expires_at=expires_at,
            has_password=has_password,
            id=id,
            last_viewed_at=last_viewed_at,
            lead_magnet_id=lead_magnet_id,
            name=name,
            url=url,
            view_count=view_count,
        )

        return new_share
