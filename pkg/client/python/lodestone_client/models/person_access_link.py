from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.person_access_link_source import (
    PersonAccessLinkSource,
    check_person_access_link_source,
)

if TYPE_CHECKING:
    from ..models.person_access_link_utm_type_0 import PersonAccessLinkUtmType0


T = TypeVar("T", bound="PersonAccessLink")


@_attrs_define
class PersonAccessLink:
    """
    Attributes:
        created_at (datetime.datetime):
        email (str): Address, as typed.
        expires_at (datetime.datetime | None):
        first_viewed_at (datetime.datetime | None):
        generic_link_id (None | str):
        id (str):
        is_active (bool):
        last_viewed_at (datetime.datetime | None):
        lead_magnet_id (str): Document that it opens.
        max_views (int | None):
        opened_count (int): How often it was opened.
        referrer (None | str): Page before the landing page of that submission.
        source (PersonAccessLinkSource): How its URL was handed out.
        submission_id (None | str):
        updated_at (datetime.datetime):
        utm (None | PersonAccessLinkUtmType0): Parameters of the submission that it was created for.
        view_count (int): Sessions with a viewed page.
    """

    created_at: datetime.datetime
    email: str
    expires_at: datetime.datetime | None
    first_viewed_at: datetime.datetime | None
    generic_link_id: None | str
    id: str
    is_active: bool
    last_viewed_at: datetime.datetime | None
    lead_magnet_id: str
    max_views: int | None
    opened_count: int
    referrer: None | str
    source: PersonAccessLinkSource
    submission_id: None | str
    updated_at: datetime.datetime
    utm: None | PersonAccessLinkUtmType0
    view_count: int

    def to_dict(self) -> dict[str, Any]:
        from ..models.person_access_link_utm_type_0 import PersonAccessLinkUtmType0  # noqa: PLC0415

        created_at = self.created_at.isoformat()

        email = self.email

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        first_viewed_at: None | str
        if isinstance(self.first_viewed_at, datetime.datetime):
            first_viewed_at = self.first_viewed_at.isoformat()
        else:
            first_viewed_at = self.first_viewed_at

        generic_link_id: None | str
        generic_link_id = self.generic_link_id

        id = self.id

        is_active = self.is_active

        last_viewed_at: None | str
        if isinstance(self.last_viewed_at, datetime.datetime):
            last_viewed_at = self.last_viewed_at.isoformat()
        else:
            last_viewed_at = self.last_viewed_at

        lead_magnet_id = self.lead_magnet_id

        max_views: int | None
        max_views = self.max_views

        opened_count = self.opened_count

        referrer: None | str
        referrer = self.referrer

        source: str = self.source

        submission_id: None | str
        submission_id = self.submission_id

        updated_at = self.updated_at.isoformat()

        utm: dict[str, Any] | None
        if isinstance(self.utm, PersonAccessLinkUtmType0):
            utm = self.utm.to_dict()
        else:
            utm = self.utm

        view_count = self.view_count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "email": email,
                "expires_at": expires_at,
                "first_viewed_at": first_viewed_at,
                "generic_link_id": generic_link_id,
                "id": id,
                "is_active": is_active,
                "last_viewed_at": last_viewed_at,
                "lead_magnet_id": lead_magnet_id,
                "max_views": max_views,
                "opened_count": opened_count,
                "referrer": referrer,
                "source": source,
                "submission_id": submission_id,
                "updated_at": updated_at,
                "utm": utm,
                "view_count": view_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person_access_link_utm_type_0 import PersonAccessLinkUtmType0  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        email = d.pop("email")

        def _parse_expires_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        def _parse_first_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                first_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return first_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        first_viewed_at = _parse_first_viewed_at(d.pop("first_viewed_at"))

        def _parse_generic_link_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        generic_link_id = _parse_generic_link_id(d.pop("generic_link_id"))

        id = d.pop("id")

        is_active = d.pop("is_active")

        def _parse_last_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_viewed_at = _parse_last_viewed_at(d.pop("last_viewed_at"))

        lead_magnet_id = d.pop("lead_magnet_id")

        def _parse_max_views(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_views = _parse_max_views(d.pop("max_views"))

        opened_count = d.pop("opened_count")

        def _parse_referrer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        referrer = _parse_referrer(d.pop("referrer"))

        source = check_person_access_link_source(d.pop("source"))

        def _parse_submission_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        submission_id = _parse_submission_id(d.pop("submission_id"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_utm(data: object) -> None | PersonAccessLinkUtmType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                utm_type_0 = PersonAccessLinkUtmType0.from_dict(data)

                return utm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PersonAccessLinkUtmType0, data)

        utm = _parse_utm(d.pop("utm"))

        view_count = d.pop("view_count")

        person_access_link = cls(
            created_at=created_at,
            email=email,
            expires_at=expires_at,
            first_viewed_at=first_viewed_at,
            generic_link_id=generic_link_id,
            id=id,
            is_active=is_active,
            last_viewed_at=last_viewed_at,
            lead_magnet_id=lead_magnet_id,
            max_views=max_views,
            opened_count=opened_count,
            referrer=referrer,
            source=source,
            submission_id=submission_id,
            updated_at=updated_at,
            utm=utm,
            view_count=view_count,
        )

        return person_access_link
