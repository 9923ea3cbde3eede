from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.person_notice_send import PersonNoticeSend, check_person_notice_send

T = TypeVar("T", bound="PersonNotice")


@_attrs_define
class PersonNotice:
    """
    Attributes:
        access_link_id (str):
        created_at (datetime.datetime):
        news (list[str]): What the reader did: finished, downloaded, returned, opened.
        send (PersonNoticeSend): When the mail is sent: when the visit is over, or once a day.
        session_id (str): Opening of the link.
        settled_at (datetime.datetime | None): When the mail was queued, or none was wanted; null if it waits.
    """

    access_link_id: str
    created_at: datetime.datetime
    news: list[str]
    send: PersonNoticeSend
    session_id: str
    settled_at: datetime.datetime | None

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        created_at = self.created_at.isoformat()

        news = self.news

        send: str = self.send

        session_id = self.session_id

        settled_at: None | str
        if isinstance(self.settled_at, datetime.datetime):
            settled_at = self.settled_at.isoformat()
        else:
            settled_at = self.settled_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "created_at": created_at,
                "news": news,
                "send": send,
                "session_id": session_id,
                "settled_at": settled_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        news = cast(list[str], d.pop("news"))

        send = check_person_notice_send(d.pop("send"))

        session_id = d.pop("session_id")

        def _parse_settled_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                settled_at_type_0 = datetime.datetime.fromisoformat(data)

                return settled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        settled_at = _parse_settled_at(d.pop("settled_at"))

        person_notice = cls(
            access_link_id=access_link_id,
            created_at=created_at,
            news=news,
            send=send,
            session_id=session_id,
            settled_at=settled_at,
        )

        return person_notice
