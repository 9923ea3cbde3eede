from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.changed_user_role import ChangedUserRole, check_changed_user_role

T = TypeVar("T", bound="ChangedUser")


@_attrs_define
class ChangedUser:
    """
    Attributes:
        role (ChangedUserRole): What the person may do.
    """

    role: ChangedUserRole

    def to_dict(self) -> dict[str, Any]:
        role: str = self.role

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "role": role,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        role = check_changed_user_role(d.pop("role"))

        changed_user = cls(
            role=role,
        )

        return changed_user
