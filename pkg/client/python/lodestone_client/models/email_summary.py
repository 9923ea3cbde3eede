from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="EmailSummary")


@_attrs_define
class EmailSummary:
    """
    Attributes:
        first_access (datetime.datetime | None): Time of the first page view.
        first_link_created (datetime.datetime | None):
        last_access (datetime.datetime | None): Time of the last page view.
        last_link_created (datetime.datetime | None):
        total_links (int): Access links of the address. The two links of a form, the one shown in the browser and the
            one sent by mail, count as one.
        total_views (int): Sessions on these links that viewed at least one page.
        unique_lead_magnets (int): Lead magnets with at least one such session.
    """

    first_access: datetime.datetime | None
    first_link_created: datetime.datetime | None
    last_access: datetime.datetime | None
    last_link_created: datetime.datetime | None
    total_links: int
    total_views: int
    unique_lead_magnets: int

    def to_dict(self) -> dict[str, Any]:
        first_access: None | str
        if isinstance(self.first_access, datetime.datetime):
            first_access = self.first_access.isoformat()
        else:
            first_access = self.first_access

        first_link_created: None | str
        if isinstance(self.first_link_created, datetime.datetime):
            first_link_created = self.first_link_created.isoformat()
        else:
            first_link_created = self.first_link_created

        last_access: None | str
        if isinstance(self.last_access, datetime.datetime):
            last_access = self.last_access.isoformat()
        else:
            last_access = self.last_access

        last_link_created: None | str
        if isinstance(self.last_link_created, datetime.datetime):
            last_link_created = self.last_link_created.isoformat()
        else:
            last_link_created = self.last_link_created

        total_links = self.total_links

        total_views = self.total_views

        unique_lead_magnets = self.unique_lead_magnets

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "first_access": first_access,
                "first_link_created": first_link_created,
                "last_access": last_access,
                "last_link_created": last_link_created,
                "total_links": total_links,
                "total_views": total_views,
                "unique_lead_magnets": unique_lead_magnets,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_first_access(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                first_access_type_0 = datetime.datetime.fromisoformat(data)

                return first_access_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        first_access = _parse_first_access(d.pop("first_access"))

        def _parse_first_link_created(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                first_link_created_type_0 = datetime.datetime.fromisoformat(data)

                return first_link_created_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        first_link_created = _parse_first_link_created(d.pop("first_link_created"))

        def _parse_last_access(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_access_type_0 = datetime.datetime.fromisoformat(data)

                return last_access_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_access = _parse_last_access(d.pop("last_access"))

        def _parse_last_link_created(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_link_created_type_0 = datetime.datetime.fromisoformat(data)

                return last_link_created_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_link_created = _parse_last_link_created(d.pop("last_link_created"))

        total_links = d.pop("total_links")

        total_views = d.pop("total_views")

        unique_lead_magnets = d.pop("unique_lead_magnets")

        email_summary = cls(
            first_access=first_access,
            first_link_created=first_link_created,
            last_access=last_access,
            last_link_created=last_link_created,
            total_links=total_links,
            total_views=total_views,
            unique_lead_magnets=unique_lead_magnets,
        )

        return email_summary
