from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.session_method import SessionMethod, check_session_method

T = TypeVar("T", bound="Session")


@_attrs_define
class Session:
    """
    Attributes:
        current (bool): Whether it is the session that asks.
        email (None | str): Address of the person; null if an API key signed in.
        ends_at (datetime.datetime): When it ends if no page is opened: 12 hours after the last one, and 30 days after
            it began at the latest.
        id (str): Unique identifier.
        key_id (None | str): Id of the API key that signed in, which the session ends with; null for a person.
        last_active_at (datetime.datetime): When the last page was opened, accurate to a minute.
        method (SessionMethod): How they signed in: by a mailed link or code, by an API key, by the link that lodestone
            up prints, by an invitation, or by OpenID Connect.
        started_at (datetime.datetime): When they signed in.
        user_agent (str): Name that the browser gave itself.
        user_id (None | str): Id of the person; null if an API key signed in.
    """

    current: bool
    email: None | str
    ends_at: datetime.datetime
    id: str
    key_id: None | str
    last_active_at: datetime.datetime
    method: SessionMethod
    started_at: datetime.datetime
    user_agent: str
    user_id: None | str

    def to_dict(self) -> dict[str, Any]:
        current = self.current

        email: None | str
        email = self.email

        ends_at = self.ends_at.isoformat()

        id = self.id

        key_id: None | str
        key_id = self.key_id

        last_active_at = self.last_active_at.isoformat()

        method: str = self.method

        started_at = self.started_at.isoformat()

        user_agent = self.user_agent

        user_id: None | str
        user_id = self.user_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "current": current,
                "email": email,
                "ends_at": ends_at,
                "id": id,
                "key_id": key_id,
                "last_active_at": last_active_at,
                "method": method,
                "started_at": started_at,
                "user_agent": user_agent,
                "user_id": user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        current = d.pop("current")

        def _parse_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        email = _parse_email(d.pop("email"))

        ends_at = datetime.datetime.fromisoformat(d.pop("ends_at"))

        id = d.pop("id")

        def _parse_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        key_id = _parse_key_id(d.pop("key_id"))

        last_active_at = datetime.datetime.fromisoformat(d.pop("last_active_at"))

        method = check_session_method(d.pop("method"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        user_agent = d.pop("user_agent")

        def _parse_user_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_id = _parse_user_id(d.pop("user_id"))

        session = cls(
            current=current,
            email=email,
            ends_at=ends_at,
            id=id,
            key_id=key_id,
            last_active_at=last_active_at,
            method=method,
            started_at=started_at,
            user_agent=user_agent,
            user_id=user_id,
        )

        return session
