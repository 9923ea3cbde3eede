from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.logo_content_type import LogoContentType, check_logo_content_type

T = TypeVar("T", bound="Logo")


@_attrs_define
class Logo:
    """
    Attributes:
        content_type (LogoContentType): Media type of the picture.
        height (int): Height in pixels.
        url (str): Public URL of the picture. It changes with the logo.
        width (int): Width in pixels.
    """

    content_type: LogoContentType
    height: int
    url: str
    width: int

    def to_dict(self) -> dict[str, Any]:
        content_type: str = self.content_type

        height = self.height

        url = self.url

        width = self.width

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "content_type": content_type,
                "height": height,
                "url": url,
                "width": width,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        content_type = check_logo_content_type(d.pop("content_type"))

        height = d.pop("height")

        url = d.pop("url")

        width = d.pop("width")

        logo = cls(
            content_type=content_type,
            height=height,
            url=url,
            width=width,
        )

        return logo
