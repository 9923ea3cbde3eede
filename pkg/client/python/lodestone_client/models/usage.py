from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Usage")


@_attrs_define
class Usage:
    """
    Attributes:
        access_links (int): Access links, active or not.
        events_this_month (int): Events stored in this calendar month (UTC), as of the last count, which is less than a
            minute old.
        generic_links (int): Generic links, active or not.
        keys (int): Working API keys.
        lead_magnets (int): Lead magnets.
        stored_bytes (int): Total size of their files in bytes, including replaced versions that are still being read.
    """

    access_links: int
    events_this_month: int
    generic_links: int
    keys: int
    lead_magnets: int
    stored_bytes: int

    def to_dict(self) -> dict[str, Any]:
        access_links = self.access_links

        events_this_month = self.events_this_month

        generic_links = self.generic_links

        keys = self.keys

        lead_magnets = self.lead_magnets

        stored_bytes = self.stored_bytes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_links": access_links,
                "events_this_month": events_this_month,
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
        access_links = d.pop("access_links")

        events_this_month = d.pop("events_this_month")

        generic_links = d.pop("generic_links")

        keys = d.pop("keys")

        lead_magnets = d.pop("lead_magnets")

        stored_bytes = d.pop("stored_bytes")

        usage = cls(
            access_links=access_links,
            events_this_month=events_this_month,
            generic_links=generic_links,
            keys=keys,
            lead_magnets=lead_magnets,
            stored_bytes=stored_bytes,
        )

        return usage
