from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.invitation_role import InvitationRole, check_invitation_role

T = TypeVar("T", bound="Invitation")


@_attrs_define
class Invitation:
    """
    Attributes:
        created_at (datetime.datetime): When it was created, or last repeated.
        email (str): Address that the invitation was mailed to. Only who reads its mails can accept it.
        expires_at (datetime.datetime): When it expires: after seven days.
        id (str): Unique identifier.
        role (InvitationRole): What the person will be in the account.
    """

    created_at: datetime.datetime
    email: str
    expires_at: datetime.datetime
    id: str
    role: InvitationRole

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        email = self.email

        expires_at = self.expires_at.isoformat()

        id = self.id

        role: str = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "email": email,
                "expires_at": expires_at,
                "id": id,
                "role": role,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        email = d.pop("email")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        id = d.pop("id")

        role = check_invitation_role(d.pop("role"))

        invitation = cls(
            created_at=created_at,
            email=email,
            expires_at=expires_at,
            id=id,
            role=role,
        )

        return invitation
