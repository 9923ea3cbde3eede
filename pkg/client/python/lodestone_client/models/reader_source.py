from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReaderSource")


@_attrs_define
class ReaderSource:
    """
    Attributes:
        referrer_host (None | str): Host of the page before the landing page.
        utm_campaign (None | str):
        utm_content (None | str):
        utm_medium (None | str):
        utm_source (None | str):
        utm_term (None | str):
    """

    referrer_host: None | str
    utm_campaign: None | str
    utm_content: None | str
    utm_medium: None | str
    utm_source: None | str
    utm_term: None | str

    def to_dict(self) -> dict[str, Any]:
        referrer_host: None | str
        referrer_host = self.referrer_host

        utm_campaign: None | str
        utm_campaign = self.utm_campaign

        utm_content: None | str
        utm_content = self.utm_content

        utm_medium: None | str
        utm_medium = self.utm_medium

        utm_source: None | str
        utm_source = self.utm_source

        utm_term: None | str
        utm_term = self.utm_term

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "referrer_host": referrer_host,
                "utm_campaign": utm_campaign,
                "utm_content": utm_content,
                "utm_medium": utm_medium,
                "utm_source": utm_source,
                "utm_term": utm_term,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_referrer_host(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        referrer_host = _parse_referrer_host(d.pop("referrer_host"))

        def _parse_utm_campaign(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        utm_campaign = _parse_utm_campaign(d.pop("utm_campaign"))

        def _parse_utm_content(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        utm_content = _parse_utm_content(d.pop("utm_content"))

        def _parse_utm_medium(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        utm_medium = _parse_utm_medium(d.pop("utm_medium"))

        def _parse_utm_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        utm_source = _parse_utm_source(d.pop("utm_source"))

        def _parse_utm_term(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        utm_term = _parse_utm_term(d.pop("utm_term"))

        reader_source = cls(
            referrer_host=referrer_host,
            utm_campaign=utm_campaign,
            utm_content=utm_content,
            utm_medium=utm_medium,
            utm_source=utm_source,
            utm_term=utm_term,
        )

        return reader_source
