from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonChatMessage")


@_attrs_define
class PersonChatMessage:
    """
    Attributes:
        channel_id (str): Chat channel that it is for.
        created_at (datetime.datetime):
        state (str): available, scheduled, running, retryable, completed, cancelled or discarded.
        text (list[str]): Its lines, the heading first, without those that name others alone.
    """

    channel_id: str
    created_at: datetime.datetime
    state: str
    text: list[str]

    def to_dict(self) -> dict[str, Any]:
        channel_id = self.channel_id

        created_at = self.created_at.isoformat()

        state = self.state

        text = self.text

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "channel_id": channel_id,
                "created_at": created_at,
                "state": state,
                "text": text,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        channel_id = d.pop("channel_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        state = d.pop("state")

        text = cast(list[str], d.pop("text"))

        person_chat_message = cls(
            channel_id=channel_id,
            created_at=created_at,
            state=state,
            text=text,
        )

        return person_chat_message
