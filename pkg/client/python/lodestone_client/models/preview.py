from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Preview")


@_attrs_define
class Preview:
    """
    Attributes:
        expires_at (datetime.datetime): When the URL stops working as a preview.
        url (str): Full URL of the preview. Anyone with it can see the page, even while the link is not active. Nothing
            done there is counted or stored.
    """

    expires_at: datetime.datetime
    url: str

    def to_dict(self) -> dict[str, Any]:
        expires_at = self.expires_at.isoformat()

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "expires_at": expires_at,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        url = d.pop("url")

        preview = cls(
            expires_at=expires_at,
            url=url,
        )

        return preview
