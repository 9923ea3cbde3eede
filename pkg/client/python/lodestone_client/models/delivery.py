from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.delivery_kind import DeliveryKind, check_delivery_kind
from ..models.delivery_state import DeliveryState, check_delivery_state

if TYPE_CHECKING:
    from ..models.attempt import Attempt
    from ..models.delivery_body_type_0 import DeliveryBodyType0


T = TypeVar("T", bound="Delivery")


@_attrs_define
class Delivery:
    """
    Attributes:
        attempts (list[Attempt]): The last 20 attempts, oldest first.
        body (DeliveryBodyType0 | None): Body of the message; null once its access link or submission was deleted.
        created_at (datetime.datetime): When it was created.
        id (str): Unique identifier.
        kind (DeliveryKind): Kind of the event.
        message_id (str): Value of the header webhook-id: the same for every attempt, and for every webhook that
            receives the event.
        next_attempt_at (datetime.datetime | None): Time of the next attempt.
        reason (None | str): Why it failed.
        settled_at (datetime.datetime | None): When it was delivered or given up.
        state (DeliveryState): Whether it was delivered, has failed, or is pending.
    """

    attempts: list[Attempt]
    body: DeliveryBodyType0 | None
    created_at: datetime.datetime
    id: str
    kind: DeliveryKind
    message_id: str
    next_attempt_at: datetime.datetime | None
    reason: None | str
    settled_at: datetime.datetime | None
    state: DeliveryState

    def to_dict(self) -> dict[str, Any]:
        from ..models.delivery_body_type_0 import DeliveryBodyType0  # noqa: PLC0415

        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        body: dict[str, Any] | None
        if isinstance(self.body, DeliveryBodyType0):
            body = self.body.to_dict()
        else:
            body = self.body

        created_at = self.created_at.isoformat()

        id = self.id

        kind: str = self.kind

        message_id = self.message_id

        next_attempt_at: None | str
        if isinstance(self.next_attempt_at, datetime.datetime):
            next_attempt_at = self.next_attempt_at.isoformat()
        else:
            next_attempt_at = self.next_attempt_at

        reason: None | str
        reason = self.reason

        settled_at: None | str
        if isinstance(self.settled_at, datetime.datetime):
            settled_at = self.settled_at.isoformat()
        else:
            settled_at = self.settled_at

        state: str = self.state

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "attempts": attempts,
                "body": body,
                "created_at": created_at,
                "id": id,
                "kind": kind,
                "message_id": message_id,
                "next_attempt_at": next_attempt_at,
                "reason": reason,
                "settled_at": settled_at,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.attempt import Attempt  # noqa: PLC0415
        from ..models.delivery_body_type_0 import DeliveryBodyType0  # noqa: PLC0415

        d = dict(src_dict)
        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = Attempt.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        def _parse_body(data: object) -> DeliveryBodyType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                body_type_0 = DeliveryBodyType0.from_dict(data)

                return body_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeliveryBodyType0 | None, data)

        body = _parse_body(d.pop("body"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        kind = check_delivery_kind(d.pop("kind"))

        message_id = d.pop("message_id")

        def _parse_next_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                next_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return next_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        next_attempt_at = _parse_next_attempt_at(d.pop("next_attempt_at"))

        def _parse_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason = _parse_reason(d.pop("reason"))

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

        state = check_delivery_state(d.pop("state"))

        delivery = cls(
            attempts=attempts,
            body=body,
            created_at=created_at,
            id=id,
            kind=kind,
            message_id=message_id,
            next_attempt_at=next_attempt_at,
            reason=reason,
            settled_at=settled_at,
            state=state,
        )

        return delivery
