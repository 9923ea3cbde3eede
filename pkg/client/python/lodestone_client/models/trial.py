from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Trial")


@_attrs_define
class Trial:
    """
    Attributes:
        error (None | str): Why it did not; null if it did.
        sent (bool): Whether the channel took the message.
    """

    error: None | str
    sent: bool

    def to_dict(self) -> dict[str, Any]:
        error: None | str
        error = self.error

        sent = self.sent

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "error": error,
                "sent": sent,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        sent = d.pop("sent")

        trial = cls(
            error=error,
            sent=sent,
        )

        return trial
