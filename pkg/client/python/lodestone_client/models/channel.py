from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.channel_about_item import ChannelAboutItem, check_channel_about_item
from ..models.channel_kind import ChannelKind, check_channel_kind

T = TypeVar("T", bound="Channel")


@_attrs_define
class Channel:
    """
    Attributes:
        about (list[ChannelAboutItem]): What it gets notices about.
        created_at (datetime.datetime): When it was created.
        disabled_reason (None | str): Why it was disabled; null if it was not, or by hand.
        id (str): Unique identifier.
        is_active (bool): Whether notices are sent.
        kind (ChannelKind): Chat program.
        last_error (None | str): Why the last message was not taken; null if it was.
        last_failed_at (datetime.datetime | None): When a message was last not taken.
        last_sent_at (datetime.datetime | None): When a message was last taken by it.
        name (str): Name of the channel.
        url_hint (str): Host and last characters of its URL, which is a secret.
    """

    about: list[ChannelAboutItem]
    created_at: datetime.datetime
    disabled_reason: None | str
    id: str
    is_active: bool
    kind: ChannelKind
    last_error: None | str
    last_failed_at: datetime.datetime | None
    last_sent_at: datetime.datetime | None
    name: str
    url_hint: str

    def to_dict(self) -> dict[str, Any]:
        about = []
        for about_item_data in self.about:
            about_item: str = about_item_data
            about.append(about_item)

        created_at = self.created_at.isoformat()

        disabled_reason: None | str
        disabled_reason = self.disabled_reason

        id = self.id

        is_active = self.is_active

        kind: str = self.kind

        last_error: None | str
        last_error = self.last_error

        last_failed_at: None | str
        if isinstance(self.last_failed_at, datetime.datetime):
            last_failed_at = self.last_failed_at.isoformat()
        else:
            last_failed_at = self.last_failed_at

        last_sent_at: None | str
        if isinstance(self.last_sent_at, datetime.datetime):
            last_sent_at = self.last_sent_at.isoformat()
        else:
            last_sent_at = self.last_sent_at

        name = self.name

        url_hint = self.url_hint

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "about": about,
                "created_at": created_at,
                "disabled_reason": disabled_reason,
                "id": id,
                "is_active": is_active,
                "kind": kind,
                "last_error": last_error,
                "last_failed_at": last_failed_at,
                "last_sent_at": last_sent_at,
                "name": name,
                "url_hint": url_hint,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        about = []
        _about = d.pop("about")
        for about_item_data in _about:
            about_item = check_channel_about_item(about_item_data)

            about.append(about_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_disabled_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        disabled_reason = _parse_disabled_reason(d.pop("disabled_reason"))

        id = d.pop("id")

        is_active = d.pop("is_active")

        kind = check_channel_kind(d.pop("kind"))

        def _parse_last_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_error = _parse_last_error(d.pop("last_error"))

        def _parse_last_failed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_failed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_failed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_failed_at = _parse_last_failed_at(d.pop("last_failed_at"))

        def _parse_last_sent_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_sent_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_sent_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_sent_at = _parse_last_sent_at(d.pop("last_sent_at"))

        name = d.pop("name")

        url_hint = d.pop("url_hint")

        channel = cls(
            about=about,
            created_at=created_at,
            disabled_reason=disabled_reason,
            id=id,
            is_active=is_active,
            kind=kind,
            last_error=last_error,
            last_failed_at=last_failed_at,
            last_sent_at=last_sent_at,
            name=name,
            url_hint=url_hint,
        )

        return channel
