from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Allowance")


@_attrs_define
class Allowance:
    """
    Attributes:
        access_links (int | None): Number of access links above which keys cannot create more; null for no limit.
        events_per_month (int | None): Events that the plan allows per calendar month (UTC); null for no limit.
        generic_links (int | None): Generic links that the plan allows; null for no limit.
        keys (int): Working API keys.
        lead_magnets (int | None): Lead magnets that the plan allows; null for no limit.
        stored_bytes (int | None): Maximum total size of the files in bytes; null for no limit.
    """

    access_links: int | None
    events_per_month: int | None
    generic_links: int | None
    keys: int
    lead_magnets: int | None
    stored_bytes: int | None

    def to_dict(self) -> dict[str, Any]:
        access_links: int | None
        access_links = self.access_links

        events_per_month: int | None
        events_per_month = self.events_per_month

        generic_links: int | None
        generic_links = self.generic_links

        keys = self.keys

        lead_magnets: int | None
        lead_magnets = self.lead_magnets

        stored_bytes: int | None
        stored_bytes = self.stored_bytes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_links": access_links,
                "events_per_month": events_per_month,
                "generic_links": generic_links,
                "keys": keys,
                "lead_magnets": lead_magnets,
                "stored_bytes": stored_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_access_links(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        access_links = _parse_access_links(d.pop("access_links"))

        def _parse_events_per_month(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        events_per_month = _parse_events_per_month(d.pop("events_per_month"))

        def _parse_generic_links(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        generic_links = _parse_generic_links(d.pop("generic_links"))

        keys = d.pop("keys")

        def _parse_lead_magnets(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lead_magnets = _parse_lead_magnets(d.pop("lead_magnets"))

        def _parse_stored_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        stored_bytes = _parse_stored_bytes(d.pop("stored_bytes"))

        allowance = cls(
            access_links=access_links,
            events_per_month=events_per_month,
            generic_links=generic_links,
            keys=keys,
            lead_magnets=lead_magnets,
            stored_bytes=stored_bytes,
        )

        return allowance
