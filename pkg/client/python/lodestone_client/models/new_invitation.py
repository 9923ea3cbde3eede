from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.new_invitation_role import NewInvitationRole, check_new_invitation_role

T = TypeVar("T", bound="NewInvitation")


@_attrs_define
class NewInvitation:
    """
    Attributes:
        email (str): Address to invite.
        role (NewInvitationRole): What the person will be: owner, editor or analyst.
    """

    email: str
    role: NewInvitationRole

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        role: str = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "role": role,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        email = d.pop("email")

        role = check_new_invitation_role(d.pop("role"))

        new_invitation = cls(
            email=email,
            role=role,
        )

        return new_invitation
