from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.changed_webhook_kinds_item import (
    ChangedWebhookKindsItem,
    check_changed_webhook_kinds_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedWebhook")


@_attrs_define
class ChangedWebhook:
    """
    Attributes:
        description (None | str | Unset): Purpose of the webhook; null clears it.
        is_active (bool | Unset): Whether messages are sent.
        kinds (list[ChangedWebhookKindsItem] | Unset): Kinds of events to send from now on.
        url (str | Unset): https URL that messages are sent to, including pending ones.
    """

    description: None | str | Unset = UNSET
    is_active: bool | Unset = UNSET
    kinds: list[ChangedWebhookKindsItem] | Unset = UNSET
    url: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        is_active = self.is_active

        kinds: list[str] | Unset = UNSET
        if not isinstance(self.kinds, Unset):
            kinds = []
            for kinds_item_data in self.kinds:
                kinds_item: str = kinds_item_data
                kinds.append(kinds_item)

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if description is not UNSET:
            field_dict["description"] = description
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if kinds is not UNSET:
            field_dict["kinds"] = kinds
        if url is not UNSET:
            field_dict["url"] = url

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        is_active = d.pop("is_active", UNSET)

        _kinds = d.pop("kinds", UNSET)
        kinds: list[ChangedWebhookKindsItem] | Unset = UNSET
        if _kinds is not UNSET:
            kinds = []
            for kinds_item_data in _kinds:
                kinds_item = check_changed_webhook_kinds_item(kinds_item_data)

                kinds.append(kinds_item)

        url = d.pop("url", UNSET)

        changed_webhook = cls(
            description=description,
            is_active=is_active,
            kinds=kinds,
            url=url,
        )

        return changed_webhook
