from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.person_answer_body import PersonAnswerBody


T = TypeVar("T", bound="PersonAnswer")


@_attrs_define
class PersonAnswer:
    """
    Attributes:
        body (PersonAnswerBody): The answer. A list has only the elements that mention the person.
        created_at (datetime.datetime):
        operation (str): operationId of the request.
    """

    body: PersonAnswerBody
    created_at: datetime.datetime
    operation: str

    def to_dict(self) -> dict[str, Any]:
        body = self.body.to_dict()

        created_at = self.created_at.isoformat()

        operation = self.operation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "body": body,
                "created_at": created_at,
                "operation": operation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person_answer_body import PersonAnswerBody  # noqa: PLC0415

        d = dict(src_dict)
        body = PersonAnswerBody.from_dict(d.pop("body"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        operation = d.pop("operation")

        person_answer = cls(
            body=body,
            created_at=created_at,
            operation=operation,
        )

        return person_answer
