from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.person_form_field import PersonFormField


T = TypeVar("T", bound="PersonForm")


@_attrs_define
class PersonForm:
    """
    Attributes:
        fields (list[PersonFormField]): The lines that mention the address. Other addresses in them are left out.
        path (str): Where it was sent to.
    """

    fields: list[PersonFormField]
    path: str

    def to_dict(self) -> dict[str, Any]:
        fields = []
        for fields_item_data in self.fields:
            fields_item = fields_item_data.to_dict()
            fields.append(fields_item)

        path = self.path

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "fields": fields,
                "path": path,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person_form_field import PersonFormField  # noqa: PLC0415

        d = dict(src_dict)
        fields = []
        _fields = d.pop("fields")
        for fields_item_data in _fields:
            fields_item = PersonFormField.from_dict(fields_item_data)

            fields.append(fields_item)

        path = d.pop("path")

        person_form = cls(
            fields=fields,
            path=path,
        )

        return person_form
