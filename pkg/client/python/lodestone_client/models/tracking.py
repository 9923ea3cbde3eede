from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Tracking")


@_attrs_define
class Tracking:
    """
    Attributes:
        pixel (None | str): HTML that does the same without scripts. null if script is null.
        script (None | str): HTML for your own page, which counts the page's views as the link's. null if the
            collector's address is not configured.
        tracking_token (str): Token with which views of the link's page are sent to the collector. It never changes and
            is not secret, because pages contain it.
    """

    pixel: None | str
    script: None | str
    tracking_token: str

    def to_dict(self) -> dict[str, Any]:
        pixel: None | str
        pixel = self.pixel

        script: None | str
        script = self.script

        tracking_token = self.tracking_token

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pixel": pixel,
                "script": script,
                "tracking_token": tracking_token,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_pixel(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        pixel = _parse_pixel(d.pop("pixel"))

        def _parse_script(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        script = _parse_script(d.pop("script"))

        tracking_token = d.pop("tracking_token")

        tracking = cls(
            pixel=pixel,
            script=script,
            tracking_token=tracking_token,
        )

        return tracking
