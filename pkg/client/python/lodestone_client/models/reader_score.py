from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReaderScore")


@_attrs_define
class ReaderScore:
    """
    Attributes:
        attention (int): 1 for each 24 seconds of reading, at most 25. Of one view, at most a minute counts.
        downloads (int): 10 if a download was completed.
        finished (int): 40 if the last page of a document was viewed.
        recency (int): 10 if the last event is less than 7 days before as_of, 5 if less than 30 days.
        returns (int): 5 for each session after the first, at most 15.
    """

    attention: int
    downloads: int
    finished: int
    recency: int
    returns: int

    def to_dict(self) -> dict[str, Any]:
        attention = self.attention

        downloads = self.downloads

        finished = self.finished

        recency = self.recency

        returns = self.returns

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "attention": attention,
                "downloads": downloads,
                "finished": finished,
                "recency": recency,
                "returns": returns,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        attention = d.pop("attention")

        downloads = d.pop("downloads")

        finished = d.pop("finished")

        recency = d.pop("recency")

        returns = d.pop("returns")

        reader_score = cls(
            attention=attention,
            downloads=downloads,
            finished=finished,
            recency=recency,
            returns=returns,
        )

        return reader_score
