from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.access_link_source import AccessLinkSource, check_access_link_source

T = TypeVar("T", bound="AccessLink")


@_attrs_define
class AccessLink:
    """
    Attributes:
        created_at (datetime.datetime): When it was created.
        email (None | str): Email address of the recipient; null for a key without the scope leads.
        expires_at (datetime.datetime | None): When it expires; null for never.
        first_viewed_at (datetime.datetime | None): When it was first viewed.
        generic_link_id (None | str): Generic link that it came from.
        id (str): Unique identifier.
        is_active (bool): Whether it can be opened.
        last_viewed_at (datetime.datetime | None): When it was last viewed.
        lead_magnet_id (str): Lead magnet that the link opens.
        max_views (int | None): How many times it can be opened; null for no limit.
        source (AccessLinkSource): How the URL was handed out: by the API (api), only in a mail to the address (mail),
            or in the browser that submitted a form without verification (form).
        submission_id (None | str): Submission that it was created for.
        tracking_token (None | str): Token with which events of this link are sent to the collector; null for a key
            without the scope write.
        updated_at (datetime.datetime): When it was last changed.
        url (None | str): Full URL. Anyone with it can open the document. Null for a key without the scope leads, and if
            the key that it was encrypted with is lost.
        view_count (int): Views so far.
    """

    created_at: datetime.datetime
    email: None | str
    expires_at: datetime.datetime | None
    first_viewed_at: datetime.datetime | None
    generic_link_id: None | str
    id: str
    is_active: bool
    last_viewed_at: datetime.datetime | None
    lead_magnet_id: str
    max_views: int | None
    source: AccessLinkSource
    submission_id: None | str
    tracking_token: None | str
    updated_at: datetime.datetime
    url: None | str
    view_count: int

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        email: None | str
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

        source: str = self.source

        submission_id: None | str
        submission_id = self.submission_id

        tracking_token: None | str
        tracking_token = self.tracking_token

        updated_at = self.updated_at.isoformat()

        url: None | str
        url = self.url

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
                "source": source,
                "submission_id": submission_id,
                "tracking_token": tracking_token,
                "updated_at": updated_at,
                "url": url,
                "view_count": view_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        email = _parse_email(d.pop("email"))

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

        source = check_access_link_source(d.pop("source"))

        def _parse_submission_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        submission_id = _parse_submission_id(d.pop("submission_id"))

        def _parse_tracking_token(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        tracking_token = _parse_tracking_token(d.pop("tracking_token"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        view_count = d.pop("view_count")

        access_link = cls(
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
            source=source,
            submission_id=submission_id,
            tracking_token=tracking_token,
            updated_at=updated_at,
            url=url,
            view_count=view_count,
        )

        return access_link
