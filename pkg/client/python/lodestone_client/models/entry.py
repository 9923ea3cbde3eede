from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.object_ import Object


T = TypeVar("T", bound="Entry")


@_attrs_define
class Entry:
    """
    Attributes:
        action (str): What was done: the operation's operationId in this description, or sign-in, sign-out or accept-
            invitation.
        actor (str): Address of the person, or name of the API key, as it was then.
        at (datetime.datetime): When it was done.
        id (str): Unique identifier. Later entries have greater ones.
        key_id (None | str): Id of the API key, or of the one that the session was signed in by; null for a person.
        object_ (None | Object): The object as it is now; null if it is gone, and if object_id is null.
        object_id (None | str): Id of the object that it was done to; null for the account itself and for several
            objects.
        request_id (str): X-Request-Id of the request.
        session_id (None | str): Id of the dashboard's session; null for a request with an API key.
        user_id (None | str): Id of the person; null for an API key.
    """

    action: str
    actor: str
    at: datetime.datetime
    id: str
    key_id: None | str
    object_: None | Object
    object_id: None | str
    request_id: str
    session_id: None | str
    user_id: None | str

    def to_dict(self) -> dict[str, Any]:
        from ..models.object_ import Object  # noqa: PLC0415

        action = self.action

        actor = self.actor

        at = self.at.isoformat()

        id = self.id

        key_id: None | str
        key_id = self.key_id

        object_: dict[str, Any] | None
        if isinstance(self.object_, Object):
            object_ = self.object_.to_dict()
        else:
            object_ = self.object_

        object_id: None | str
        object_id = self.object_id

        request_id = self.request_id

        session_id: None | str
        session_id = self.session_id

        user_id: None | str
        user_id = self.user_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "action": action,
                "actor": actor,
                "at": at,
                "id": id,
                "key_id": key_id,
                "object": object_,
                "object_id": object_id,
                "request_id": request_id,
                "session_id": session_id,
                "user_id": user_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.object_ import Object  # noqa: PLC0415

        d = dict(src_dict)
        action = d.pop("action")

        actor = d.pop("actor")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        id = d.pop("id")

        def _parse_key_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        key_id = _parse_key_id(d.pop("key_id"))

        def _parse_object_(data: object) -> None | Object:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                object_type_0 = Object.from_dict(data)

                return object_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Object, data)

        object_ = _parse_object_(d.pop("object"))

        def _parse_object_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        object_id = _parse_object_id(d.pop("object_id"))

        request_id = d.pop("request_id")

        def _parse_session_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        session_id = _parse_session_id(d.pop("session_id"))

        def _parse_user_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        user_id = _parse_user_id(d.pop("user_id"))

        entry = cls(
            action=action,
            actor=actor,
            at=at,
            id=id,
            key_id=key_id,
            object_=object_,
            object_id=object_id,
            request_id=request_id,
            session_id=session_id,
            user_id=user_id,
        )

        return entry
