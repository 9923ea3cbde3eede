from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonKey")


@_attrs_define
class PersonKey:
    """
    Attributes:
        created_at (datetime.datetime):
        key (str): Idempotency-Key.
        operation (str): operationId of the request.
    """

    created_at: datetime.datetime
    key: str
    operation: str

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        key = self.key

        operation = self.operation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "key": key,
                "operation": operation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        key = d.pop("key")

        operation = d.pop("operation")

        person_key = cls(
            created_at=created_at,
            key=key,
            operation=operation,
        )

        return person_key
