from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Attempt")


@_attrs_define
class Attempt:
    """
    Attributes:
        attempted_at (datetime.datetime): When the attempt began.
        error (None | str): Why it failed; null if it succeeded.
        latency_ms (int): Duration of the attempt in milliseconds.
        response (None | str): Beginning of the answer's body; null if there was no answer.
        status_code (int | None): HTTP status of the answer; null if there was none.
        url (str): URL that the message was sent to.
    """

    attempted_at: datetime.datetime
    error: None | str
    latency_ms: int
    response: None | str
    status_code: int | None
    url: str

    def to_dict(self) -> dict[str, Any]:
        attempted_at = self.attempted_at.isoformat()

        error: None | str
        error = self.error

        latency_ms = self.latency_ms

        response: None | str
        response = self.response

        status_code: int | None
        status_code = self.status_code

        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "attempted_at": attempted_at,
                "error": error,
                "latency_ms": latency_ms,
                "response": response,
                "status_code": status_code,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        attempted_at = datetime.datetime.fromisoformat(d.pop("attempted_at"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        latency_ms = d.pop("latency_ms")

        def _parse_response(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        response = _parse_response(d.pop("response"))

        def _parse_status_code(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        status_code = _parse_status_code(d.pop("status_code"))

        url = d.pop("url")

        attempt = cls(
            attempted_at=attempted_at,
            error=error,
            latency_ms=latency_ms,
            response=response,
            status_code=status_code,
            url=url,
        )

        return attempt
