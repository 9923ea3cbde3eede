from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.return_ import Return


T = TypeVar("T", bound="Cohort")


@_attrs_define
class Cohort:
    """
    Attributes:
        cohort (datetime.datetime): Start of the interval in which they first read, with its offset.
        returned (list[Return]): Every later interval that has begun, with zero where none returned.
        size (int): How many readers there are: persons with a first page view in the interval. All access links of an
            address are one.
        partial (bool | Unset): true: the period cuts the interval, or it is not over.
    """

    cohort: datetime.datetime
    returned: list[Return]
    size: int
    partial: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        cohort = self.cohort.isoformat()

        returned = []
        for returned_item_data in self.returned:
            returned_item = returned_item_data.to_dict()
            returned.append(returned_item)

        size = self.size

        partial = self.partial

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "cohort": cohort,
                "returned": returned,
                "size": size,
            }
        )
        if partial is not UNSET:
            field_dict["partial"] = partial

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.return_ import Return  # noqa: PLC0415

        d = dict(src_dict)
        cohort = datetime.datetime.fromisoformat(d.pop("cohort"))

        returned = []
        _returned = d.pop("returned")
        for returned_item_data in _returned:
            returned_item = Return.from_dict(returned_item_data)

            returned.append(returned_item)

        size = d.pop("size")

        partial = d.pop("partial", UNSET)

        cohort_ = cls(
            cohort=cohort,
            returned=returned,
            size=size,
            partial=partial,
        )

        return cohort_
