from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="LinkPreview")


@_attrs_define
class LinkPreview:
    """
    Attributes:
        expires_at (datetime.datetime): When the URL stops working as a preview. After that it works like a visitor's
            URL.
        url (str): Shows the document without counting a view, even if the link does not open. Anyone with this URL can
            use it.
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

        link_preview = cls(
            expires_at=expires_at,
            url=url,
        )

        return link_preview
