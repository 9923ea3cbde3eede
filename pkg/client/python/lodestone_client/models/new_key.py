from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.new_key_scopes_item import NewKeyScopesItem, check_new_key_scopes_item
from ..types import UNSET, Unset

T = TypeVar("T", bound="NewKey")


@_attrs_define
class NewKey:
    """
    Attributes:
        name (str): Purpose of the key.
        scopes (list[NewKeyScopesItem]): Scopes of the key: read, write, leads (reading personal data: submissions,
            access links, summaries of email addresses), webhooks (everything about webhooks), keys (listing, creating and
            revoking keys), people (managing people, invitations and sessions, and reading the audit log). No scope includes
            another: a key with read and write gets 403 for submissions and for summaries of email addresses. There is no
            default.
        expires_at (datetime.datetime | None | Unset): When it expires (ISO 8601, in the future). If omitted or null, it
            expires together with the key that creates it, if that key expires.
    """

    name: str
    scopes: list[NewKeyScopesItem]
    expires_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        scopes = []
        for scopes_item_data in self.scopes:
            scopes_item: str = scopes_item_data
            scopes.append(scopes_item)

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "scopes": scopes,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        scopes = []
        _scopes = d.pop("scopes")
        for scopes_item_data in _scopes:
            scopes_item = check_new_key_scopes_item(scopes_item_data)

            scopes.append(scopes_item)

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

        new_key = cls(
            name=name,
            scopes=scopes,
            expires_at=expires_at,
        )

        return new_key
