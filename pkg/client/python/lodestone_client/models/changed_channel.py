from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.changed_channel_about_item import (
    ChangedChannelAboutItem,
    check_changed_channel_about_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedChannel")


@_attrs_define
class ChangedChannel:
    """
    Attributes:
        about (list[ChangedChannelAboutItem] | Unset): What it gets notices about.
        is_active (bool | Unset): Whether notices are sent.
        name (str | Unset): Name of the channel, for you.
        url (str | Unset): URL of its incoming webhook.
    """

    about: list[ChangedChannelAboutItem] | Unset = UNSET
    is_active: bool | Unset = UNSET
    name: str | Unset = UNSET
    url: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        about: list[str] | Unset = UNSET
        if not isinstance(self.about, Unset):
            about = []
            for about_item_data in self.about:
                about_item: str = about_item_data
                about.append(about_item)

        is_active = self.is_active

        name = self.name

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if about is not UNSET:
            field_dict["about"] = about
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if name is not UNSET:
            field_dict["name"] = name
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _about = d.pop("about", UNSET)
        about: list[ChangedChannelAboutItem] | Unset = UNSET
        if _about is not UNSET:
            about = []
            for about_item_data in _about:
                about_item = check_changed_channel_about_item(about_item_data)

                about.append(about_item)

        is_active = d.pop("is_active", UNSET)

        name = d.pop("name", UNSET)

        url = d.pop("url", UNSET)

        changed_channel = cls(
            about=about,
            is_active=is_active,
            name=name,
            url=url,
        )

        return changed_channel
