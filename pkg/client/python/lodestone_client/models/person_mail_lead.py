from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonMailLead")


@_attrs_define
class PersonMailLead:
    """
    Attributes:
        campaign (None | str):
        email (str):
        link (str): Title of the landing page or of its document.
        name (None | str):
        source (None | str): Where the visitor came from.
        submitted_at (datetime.datetime):
    """

    campaign: None | str
    email: str
    link: str
    name: None | str
    source: None | str
    submitted_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        campaign: None | str
        campaign = self.campaign

        email = self.email

        link = self.link

        name: None | str
        name = self.name

        source: None | str
        source = self.source

        submitted_at = self.submitted_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "campaign": campaign,
                "email": email,
                "link": link,
                "name": name,
                "source": source,
                "submitted_at": submitted_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_campaign(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        campaign = _parse_campaign(d.pop("campaign"))

        email = d.pop("email")

        link = d.pop("link")

        def _parse_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        name = _parse_name(d.pop("name"))

        def _parse_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source = _parse_source(d.pop("source"))

        submitted_at = datetime.datetime.fromisoformat(d.pop("submitted_at"))

        person_mail_lead = cls(
            campaign=campaign,
            email=email,
            link=link,
            name=name,
            source=source,
            submitted_at=submitted_at,
        )

        return person_mail_lead
