from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.webhook_kinds_item import WebhookKindsItem, check_webhook_kinds_item

T = TypeVar("T", bound="Webhook")


@_attrs_define
class Webhook:
    """
    Attributes:
        created_at (datetime.datetime): When it was created.
        description (None | str): Purpose of the webhook.
        disabled_at (datetime.datetime | None): When it was disabled.
        disabled_reason (None | str): Why it was disabled.
        failing_since (datetime.datetime | None): When the first message after the last success failed; null if none
            has.
        id (str): Unique identifier.
        is_active (bool): Whether messages are sent.
        kinds (list[WebhookKindsItem]): Kinds of events that are sent to it.
        updated_at (datetime.datetime): When it was last changed.
        url (str): URL that messages are sent to.
    """

    created_at: datetime.datetime
    description: None | str
    disabled_at: datetime.datetime | None
    disabled_reason: None | str
    failing_since: datetime.datetime | None
    id: str
    is_active: bool
    kinds: list[WebhookKindsItem]
    updated_at: datetime.datetime
    url: str

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        description: None | str
        description = self.description

        disabled_at: None | str
        if isinstance(self.disabled_at, datetime.datetime):
            disabled_at = self.disabled_at.isoformat()
        else:
            disabled_at = self.disabled_at

        disabled_reason: None | str
        disabled_reason = self.disabled_reason

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        id = self.id

        is_active = self.is_active

        kinds = []
        for kinds_item_data in self.kinds:
            kinds_item: str = kinds_item_data
            kinds.append(kinds_item)

        updated_at = self.updated_at.isoformat()

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "description": description,
                "disabled_at": disabled_at,
                "disabled_reason": disabled_reason,
                "failing_since": failing_since,
                "id": id,
                "is_active": is_active,
                "kinds": kinds,
                "updated_at": updated_at,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        def _parse_disabled_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                disabled_at_type_0 = datetime.datetime.fromisoformat(data)

                return disabled_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        disabled_at = _parse_disabled_at(d.pop("disabled_at"))

        def _parse_disabled_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        disabled_reason = _parse_disabled_reason(d.pop("disabled_reason"))

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        id = d.pop("id")

        is_active = d.pop("is_active")

        kinds = []
        _kinds = d.pop("kinds")
        for kinds_item_data in _kinds:
            kinds_item = check_webhook_kinds_item(kinds_item_data)

            kinds.append(kinds_item)

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        url = d.pop("url")

        webhook = cls(
            created_at=created_at,
            description=description,
            disabled_at=disabled_at,
            disabled_reason=disabled_reason,
            failing_since=failing_since,
            id=id,
            is_active=is_active,
            kinds=kinds,
            updated_at=updated_at,
            url=url,
        )

        return webhook
