from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedLeadMagnet")


@_attrs_define
class ChangedLeadMagnet:
    """
    Attributes:
        author (None | str | Unset): Who wrote it, as landing pages show it; null clears it.
        author_about (None | str | Unset): A sentence about the author; null clears it.
        description (None | str | Unset): Description of the document; null clears it.
        downloadable (bool | Unset): Whether the reading page offers the file for download and printing. It holds for
            links that exist, from the next request on.
        end_button (None | str | Unset): Label of a button behind the last page; needs end_url; null clears it.
        end_text (None | str | Unset): Text behind the last page; null clears it.
        end_url (None | str | Unset): http or https URL that the button behind the last page opens; needs end_button;
            null clears it.
        is_active (bool | Unset): Whether links to it can be created and opened.
        title (str | Unset): Title of the document.
    """

    author: None | str | Unset = UNSET
    author_about: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    downloadable: bool | Unset = UNSET
    end_button: None | str | Unset = UNSET
    end_text: None | str | Unset = UNSET
    end_url: None | str | Unset = UNSET
    is_active: bool | Unset = UNSET
    title: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        author_about: None | str | Unset
        if isinstance(self.author_about, Unset):
            author_about = UNSET
        else:
            author_about = self.author_about

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        downloadable = self.downloadable

        end_button: None | str | Unset
        if isinstance(self.end_button, Unset):
            end_button = UNSET
        else:
            end_button = self.end_button

        end_text: None | str | Unset
        if isinstance(self.end_text, Unset):
            end_text = UNSET
        else:
            end_text = self.end_text

        end_url: None | str | Unset
        if isinstance(self.end_url, Unset):
            end_url = UNSET
        else:
            end_url = self.end_url

        is_active = self.is_active

        title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if author is not UNSET:
            field_dict["author"] = author
        if author_about is not UNSET:
            field_dict["author_about"] = author_about
        if description is not UNSET:
            field_dict["description"] = description
        if downloadable is not UNSET:
            field_dict["downloadable"] = downloadable
        if end_button is not UNSET:
            field_dict["end_button"] = end_button
        if end_text is not UNSET:
            field_dict["end_text"] = end_text
        if end_url is not UNSET:
            field_dict["end_url"] = end_url
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))

        def _parse_author_about(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author_about = _parse_author_about(d.pop("author_about", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        downloadable = d.pop("downloadable", UNSET)

        def _parse_end_button(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        end_button = _parse_end_button(d.pop("end_button", UNSET))

        def _parse_end_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        end_text = _parse_end_text(d.pop("end_text", UNSET))

        def _parse_end_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        end_url = _parse_end_url(d.pop("end_url", UNSET))

        is_active = d.pop("is_active", UNSET)

        title = d.pop("title", UNSET)

        changed_lead_magnet = cls(
            author=author,
            author_about=author_about,
            description=description,
            downloadable=downloadable,
            end_button=end_button,
            end_text=end_text,
            end_url=end_url,
            is_active=is_active,
            title=title,
        )

        return changed_lead_magnet
