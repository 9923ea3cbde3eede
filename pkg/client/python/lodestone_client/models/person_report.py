from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.person_report_event_type import (
    PersonReportEventType,
    check_person_report_event_type,
)

T = TypeVar("T", bound="PersonReport")


@_attrs_define
class PersonReport:
    """
    Attributes:
        access_link_id (str):
        country (None | str): Country of the visitor.
        created_at (datetime.datetime):
        event_id (str): id of the event.
        event_type (PersonReportEventType):
        language (None | str): Language of the browser.
        session_id (str):
        state (str): available, scheduled, running, retryable, completed, cancelled or discarded.
        user_agent (None | str): User agent of the visitor's browser.
    """

    access_link_id: str
    country: None | str
    created_at: datetime.datetime
    event_id: str
    event_type: PersonReportEventType
    language: None | str
    session_id: str
    state: str
    user_agent: None | str

    def to_dict(self) -> dict[str, Any]:
        access_link_id = self.access_link_id

        country: None | str
        country = self.country

        created_at = self.created_at.isoformat()

        event_id = self.event_id

        event_type: str = self.event_type

        language: None | str
        language = self.language

        session_id = self.session_id

        state = self.state

        user_agent: None | str
        user_agent = self.user_agent

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "country": country,
                "created_at": created_at,
                "event_id": event_id,
                "event_type": event_type,
                "language": language,
                "session_id": session_id,
                "state": state,
                "user_agent": user_agent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        def _parse_country(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        country = _parse_country(d.pop("country"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        event_id = d.pop("event_id")

        event_type = check_person_report_event_type(d.pop("event_type"))

        def _parse_language(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        language = _parse_language(d.pop("language"))

        session_id = d.pop("session_id")

        state = d.pop("state")

        def _parse_user_agent(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_agent = _parse_user_agent(d.pop("user_agent"))

        person_report = cls(
            access_link_id=access_link_id,
            country=country,
            created_at=created_at,
            event_id=event_id,
            event_type=event_type,
            language=language,
            session_id=session_id,
            state=state,
            user_agent=user_agent,
        )

        return person_report
