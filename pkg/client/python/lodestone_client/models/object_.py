from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.object_type import ObjectType, check_object_type

T = TypeVar("T", bound="Object")


@_attrs_define
class Object:
    """
    Attributes:
        name (None | str): Its title, slug, address or name, or the prefix of an API key; null if it has none, or if the
            API key lacks the scope that reads such objects.
        parent_id (None | str): Id of the lead magnet that a link or a share belongs to, or of the generic link that a
            submission came by; null for all others.
        type_ (ObjectType): What kind of object it is.
    """

    name: None | str
    parent_id: None | str
    type_: ObjectType

    def to_dict(self) -> dict[str, Any]:
        name: None | str
        name = self.name

        parent_id: None | str
        parent_id = self.parent_id

        type_: str = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "parent_id": parent_id,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        name = _parse_name(d.pop("name"))

        def _parse_parent_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        parent_id = _parse_parent_id(d.pop("parent_id"))

        type_ = check_object_type(d.pop("type"))

        object_ = cls(
            name=name,
            parent_id=parent_id,
            type_=type_,
        )

        return object_
