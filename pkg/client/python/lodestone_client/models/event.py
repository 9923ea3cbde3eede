from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.event_event_type import EventEventType, check_event_event_type

if TYPE_CHECKING:
    from ..models.event_event_data import EventEventData


T = TypeVar("T", bound="Event")


@_attrs_define
class Event:
    """
    Attributes:
        access_link_id (str): Access link of the event.
        created_at (datetime.datetime): When it happened.
        event_data (EventEventData): Data of the event, such as the page number.
        event_type (EventEventType): Type of the event.
        id (str): Unique within the access link.
        ip_hash (None | str): Keyed hash of the visitor's address; the key is destroyed within two days. Null if the
            address is withheld.
        user_agent (None | str): User agent of the visitor. Null if withheld.
    """

    access_link_id: str
    created_at: datetime.datetime
    event_data: EventEventData
    event_type: EventEventType
    id: str
    ip_hash: None | str
    user_agent: None | str

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        created_at = self.created_at.isoformat()

        event_data = self.event_data.to_dict()

        event_type: str = self.event_type

        id = self.id

        ip_hash: None | str
        ip_hash = self.ip_hash

        user_agent: None | str
        user_agent = self.user_agent

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "created_at": created_at,
                "event_data": event_data,
                "event_type": event_type,
                "id": id,
                "ip_hash": ip_hash,
                "user_agent": user_agent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.event_event_data import EventEventData  # noqa: PLC0415

        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        event_data = EventEventData.from_dict(d.pop("event_data"))

        event_type = check_event_event_type(d.pop("event_type"))

        id = d.pop("id")

        def _parse_ip_hash(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        ip_hash = _parse_ip_hash(d.pop("ip_hash"))

        def _parse_user_agent(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_agent = _parse_user_agent(d.pop("user_agent"))

        event = cls(
            access_link_id=access_link_id,
            created_at=created_at,
            event_data=event_data,
            event_type=event_type,
            id=id,
            ip_hash=ip_hash,
            user_agent=user_agent,
        )

        return event
