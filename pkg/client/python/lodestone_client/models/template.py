from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Template")


@_attrs_define
class Template:
    """
    Attributes:
        campaign (None | str): Value of utm_campaign; null: the parameter is left out.
        content (None | str): Value of utm_content; null: the parameter is left out.
        created_at (datetime.datetime): When it was created.
        id (str): Unique identifier.
        medium (None | str): Value of utm_medium; null: the parameter is left out.
        name (str): Name of the template.
        source (None | str): Value of utm_source; null: the parameter is left out.
        term (None | str): Value of utm_term; null: the parameter is left out.
        updated_at (datetime.datetime): When it was last changed.
        url (None | str): URL of the generic link that generic_link_id names, with the parameters; null without
            generic_link_id.
    """

    campaign: None | str
    content: None | str
    created_at: datetime.datetime
    id: str
    medium: None | str
    name: str
    source: None | str
    term: None | str
    updated_at: datetime.datetime
    url: None | str

    def to_dict(self) -> dict[str, Any]:
        campaign: None | str
        campaign = self.campaign

        content: None | str
        content = self.content

        created_at = self.created_at.isoformat()

        id = self.id

        medium: None | str
        medium = self.medium

        name = self.name

        source: None | str
        source = self.source

        term: None | str
        term = self.term

        updated_at = self.updated_at.isoformat()

        url: None | str
        url = self.url

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "campaign": campaign,
                "content": content,
                "created_at": created_at,
                "id": id,
                "medium": medium,
                "name": name,
                "source": source,
                "term": term,
                "updated_at": updated_at,
                "url": url,
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

        def _parse_content(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        content = _parse_content(d.pop("content"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        def _parse_medium(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        medium = _parse_medium(d.pop("medium"))

        name = d.pop("name")

        def _parse_source(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        source = _parse_source(d.pop("source"))

        def _parse_term(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        term = _parse_term(d.pop("term"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        url = _parse_url(d.pop("url"))

        template = cls(
            campaign=campaign,
            content=content,
            created_at=created_at,
            id=id,
            medium=medium,
            name=name,
            source=source,
            term=term,
            updated_at=updated_at,
            url=url,
        )

        return template
