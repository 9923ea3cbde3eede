from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.new_channel_about_item import (
    NewChannelAboutItem,
    check_new_channel_about_item,
)
from ..models.new_channel_kind import NewChannelKind, check_new_channel_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="NewChannel")


@_attrs_define
class NewChannel:
    """
    Attributes:
        kind (NewChannelKind): Chat program.
        name (str): Name of the channel, for you.
        url (str): URL of its incoming webhook. It is not shown again.
        about (list[NewChannelAboutItem] | Unset): What it gets notices about. Default: everything.
    """

    kind: NewChannelKind
    name: str
    url: str
    about: list[NewChannelAboutItem] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        name = self.name

        url = self.url

        about: list[str] | Unset = UNSET
        if not isinstance(self.about, Unset):
            about = []
            for about_item_data in self.about:
                about_item: str = about_item_data
                about.append(about_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "name": name,
                "url": url,
            }
        )
        if about is not UNSET:
            field_dict["about"] = about

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_new_channel_kind(d.pop("kind"))

        name = d.pop("name")

        url = d.pop("url")

        _about = d.pop("about", UNSET)
        about: list[NewChannelAboutItem] | Unset = UNSET
        if _about is not UNSET:
            about = []
            for about_item_data in _about:
                about_item = check_new_channel_about_item(about_item_data)

                about.append(about_item)

        new_channel = cls(
            kind=kind,
            name=name,
            url=url,
            about=about,
        )

        return new_channel
