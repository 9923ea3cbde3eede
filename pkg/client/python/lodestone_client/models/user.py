from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.user_role import UserRole, check_user_role

T = TypeVar("T", bound="User")


@_attrs_define
class User:
    """
    Attributes:
        created_at (datetime.datetime): When the person joined the account.
        email (str): Address that the person signs in with.
        id (str): Unique identifier.
        last_seen_at (datetime.datetime | None): When the person last opened a page of the dashboard, accurate to a
            minute; null for never.
        role (UserRole): What the person may do: an owner everything, an editor everything but managing people and keys,
            an analyst reads.
    """

    created_at: datetime.datetime
    email: str
    id: str
    last_seen_at: datetime.datetime | None
    role: UserRole

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        email = self.email

        id = self.id

        last_seen_at: None | str
        if isinstance(self.last_seen_at, datetime.datetime):
            last_seen_at = self.last_seen_at.isoformat()
        else:
            last_seen_at = self.last_seen_at

        role: str = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "email": email,
                "id": id,
                "last_seen_at": last_seen_at,
                "role": role,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        email = d.pop("email")

        id = d.pop("id")

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

        role = check_user_role(d.pop("role"))

        user = cls(
            created_at=created_at,
            email=email,
            id=id,
            last_seen_at=last_seen_at,
            role=role,
        )

        return user
