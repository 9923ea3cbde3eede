from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="NewLeadMagnet")


@_attrs_define
class NewLeadMagnet:
    """
    Attributes:
        title (str): Title of the document.
        author (None | str | Unset): Who wrote it, as landing pages show it.
        author_about (None | str | Unset): A sentence about the author.
        description (None | str | Unset): Description of the document.
        downloadable (bool | Unset): Whether the reading page offers the file for download and printing. A browser that
            shows a document has its bytes: false keeps honest readers from a copy, and no one else.
        end_button (None | str | Unset): Label of a button behind the last page; needs end_url.
        end_text (None | str | Unset): Text behind the last page.
        end_url (None | str | Unset): http or https URL that the button behind the last page opens; needs end_button.
    """

    title: str
    author: None | str | Unset = UNSET
    author_about: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    downloadable: bool | Unset = UNSET
    end_button: None | str | Unset = UNSET
    end_text: None | str | Unset = UNSET
    end_url: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        title = self.title

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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "title": title,
            }
        )
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

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        title = d.pop("title")

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

        new_lead_magnet = cls(
            title=title,
            author=author,
            author_about=author_about,
            description=description,
            downloadable=downloadable,
            end_button=end_button,
            end_text=end_text,
            end_url=end_url,
        )

        return new_lead_magnet
