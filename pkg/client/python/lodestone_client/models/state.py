from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="State")


@_attrs_define
class State:
    """
    Attributes:
        allowed_origins (list[str]): Origins of pages that may show the form: change them with PATCH of the link.
        content_security_policy (str): What a Content-Security-Policy of your page has to allow.
        last_refused_at (datetime.datetime | None): When a page of another origin last asked for the form, accurate to a
            minute; null for never.
        last_refused_origin (None | str): Origin of that page.
        last_seen_at (datetime.datetime | None): When a page of an allowed origin last loaded the form, accurate to a
            minute; null for never.
        last_seen_origin (None | str): Origin of that page.
        script (str): HTML for your own page, which shows the form.
    """

    allowed_origins: list[str]
    content_security_policy: str
    last_refused_at: datetime.datetime | None
    last_refused_origin: None | str
    last_seen_at: datetime.datetime | None
    last_seen_origin: None | str
    script: str

    def to_dict(self) -> dict[str, Any]:
        allowed_origins = self.allowed_origins

        content_security_policy = self.content_security_policy

        last_refused_at: None | str
        if isinstance(self.last_refused_at, datetime.datetime):
            last_refused_at = self.last_refused_at.isoformat()
        else:
            last_refused_at = self.last_refused_at

        last_refused_origin: None | str
        last_refused_origin = self.last_refused_origin

        last_seen_at: None | str
        if isinstance(self.last_seen_at, datetime.datetime):
            last_seen_at = self.last_seen_at.isoformat()
        else:
            last_seen_at = self.last_seen_at

        last_seen_origin: None | str
        last_seen_origin = self.last_seen_origin

        script = self.script

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "allowed_origins": allowed_origins,
                "content_security_policy": content_security_policy,
                "last_refused_at": last_refused_at,
                "last_refused_origin": last_refused_origin,
                "last_seen_at": last_seen_at,
                "last_seen_origin": last_seen_origin,
                "script": script,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        allowed_origins = cast(list[str], d.pop("allowed_origins"))

        content_security_policy = d.pop("content_security_policy")

        def _parse_last_refused_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_refused_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_refused_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_refused_at = _parse_last_refused_at(d.pop("last_refused_at"))

        def _parse_last_refused_origin(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_refused_origin = _parse_last_refused_origin(d.pop("last_refused_origin"))

        def _parse_last_seen_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_seen_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_seen_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_seen_at = _parse_last_seen_at(d.pop("last_seen_at"))

        def _parse_last_seen_origin(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_seen_origin = _parse_last_seen_origin(d.pop("last_seen_origin"))

        script = d.pop("script")

        state = cls(
            allowed_origins=allowed_origins,
            content_security_policy=content_security_policy,
            last_refused_at=last_refused_at,
            last_refused_origin=last_refused_origin,
            last_seen_at=last_seen_at,
            last_seen_origin=last_seen_origin,
            script=script,
        )

        return state
