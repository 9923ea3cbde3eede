from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="WeeklyReport")


@_attrs_define
class WeeklyReport:
    """
    Attributes:
        email (str): Address that the report goes to.
        enabled (bool): Whether it is sent on Mondays, after 07:00 in the account's time zone. Until someone sets it,
            owners get it and others do not.
    """

    email: str
    enabled: bool

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        enabled = self.enabled

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "enabled": enabled,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        email = d.pop("email")

        enabled = d.pop("enabled")

        weekly_report = cls(
            email=email,
            enabled=enabled,
        )

        return weekly_report
