from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.cursor_pagination import CursorPagination
    from ..models.submission import Submission


T = TypeVar("T", bound="CursorPageSubmission")


@_attrs_define
class CursorPageSubmission:
    """
    Attributes:
        data (list[Submission]):
        pagination (CursorPagination):
    """

    data: list[Submission]
    pagination: CursorPagination

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        pagination = self.pagination.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "data": data,
                "pagination": pagination,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cursor_pagination import CursorPagination  # noqa: PLC0415
        from ..models.submission import Submission  # noqa: PLC0415

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = Submission.from_dict(data_item_data)

            data.append(data_item)

        pagination = CursorPagination.from_dict(d.pop("pagination"))

        cursor_page_submission = cls(
            data=data,
            pagination=pagination,
        )

        return cursor_page_submission
