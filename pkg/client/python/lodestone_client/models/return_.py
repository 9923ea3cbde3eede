from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Return")


@_attrs_define
class Return:
    """
    Attributes:
        after (int): Intervals after the one of the first read.
        rate (float): readers, divided by the size of the cohort.
        readers (int): Readers of the cohort with a page view in the interval.
        time (datetime.datetime): Start of the interval, with its offset.
        partial (bool | Unset): true: the interval is not over.
    """

    after: int
    rate: float
    readers: int
    time: datetime.datetime
    partial: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        after = self.after

        rate = self.rate

        readers = self.readers

        time = self.time.isoformat()

        partial = self.partial

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "after": after,
                "rate": rate,
                "readers": readers,
                "time": time,
            }
        )
        if partial is not UNSET:
            field_dict["partial"] = partial

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        after = d.pop("after")

        rate = d.pop("rate")

        readers = d.pop("readers")

        time = datetime.datetime.fromisoformat(d.pop("time"))

        partial = d.pop("partial", UNSET)

        return_ = cls(
            after=after,
            rate=rate,
            readers=readers,
            time=time,
            partial=partial,
        )

        return return_
