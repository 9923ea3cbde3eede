from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="LeadMagnet")


@_attrs_define
class LeadMagnet:
    """
    Attributes:
        access_link_count (int): Number of its access links.
        author (None | str): Who wrote it, as landing pages show it. Without one, the first file sets it if its metadata
            names a person.
        author_about (None | str): A sentence about the author.
        content_type (None | str): Media type of the file.
        created_at (datetime.datetime): When it was created.
        description (None | str): Description of the document.
        downloadable (bool): Whether the reading page offers the file for download and printing.
        end_button (None | str): Label of the button behind the last page.
        end_text (None | str): Text behind the last page.
        end_url (None | str): URL that the button behind the last page opens.
        file_name (None | str): Name of the file.
        file_size (int | None): Size of the file in bytes.
        generic_link_count (int): Number of its generic links.
        id (str): Unique identifier.
        is_active (bool): Whether links to it can be created and opened.
        page_count (int | None): Pages of the file.
        title (str): Title of the document.
        updated_at (datetime.datetime): When it or its file was last changed.
    """

    access_link_count: int
    author: None | str
    author_about: None | str
    content_type: None | str
    created_at: datetime.datetime
    description: None | str
    downloadable: bool
    end_button: None | str
    end_text: None | str
    end_url: None | str
    file_name: None | str
    file_size: int | None
    generic_link_count: int
    id: str
    is_active: bool
    page_count: int | None
    title: str
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        access_link_count = self.access_link_count

        author: None | str
        author = self.author

        author_about: None | str
        author_about = self.author_about

        content_type: None | str
        content_type = self.content_type

        created_at = self.created_at.isoformat()

        description: None | str
        description = self.description

        downloadable = self.downloadable

        end_button: None | str
        end_button = self.end_button

        end_text: None | str
        end_text = self.end_text

        end_url: None | str
        end_url = self.end_url

        file_name: None | str
        file_name = self.file_name

        file_size: int | None
        file_size = self.file_size

        generic_link_count = self.generic_link_count

        id = self.id

        is_active = self.is_active

        page_count: int | None
        page_count = self.page_count

        title = self.title

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_count": access_link_count,
                "author": author,
                "author_about": author_about,
                "content_type": content_type,
                "created_at": created_at,
                "description": description,
                "downloadable": downloadable,
                "end_button": end_button,
                "end_text": end_text,
                "end_url": end_url,
                "file_name": file_name,
                "file_size": file_size,
                "generic_link_count": generic_link_count,
                "id": id,
                "is_active": is_active,
                "page_count": page_count,
                "title": title,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_count = d.pop("access_link_count")

        def _parse_author(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author = _parse_author(d.pop("author"))

        def _parse_author_about(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author_about = _parse_author_about(d.pop("author_about"))

        def _parse_content_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        content_type = _parse_content_type(d.pop("content_type"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

        downloadable = d.pop("downloadable")

        def _parse_end_button(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_button = _parse_end_button(d.pop("end_button"))

        def _parse_end_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_text = _parse_end_text(d.pop("end_text"))

        def _parse_end_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end_url = _parse_end_url(d.pop("end_url"))

        def _parse_file_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        file_name = _parse_file_name(d.pop("file_name"))

        def _parse_file_size(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        file_size = _parse_file_size(d.pop("file_size"))

        generic_link_count = d.pop("generic_link_count")

        id = d.pop("id")

        is_active = d.pop("is_active")

        def _parse_page_count(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        page_count = _parse_page_count(d.pop("page_count"))

        title = d.pop("title")

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        lead_magnet = cls(
            access_link_count=access_link_count,
            author=author,
            author_about=author_about,
            content_type=content_type,
            created_at=created_at,
            description=description,
            downloadable=downloadable,
            end_button=end_button,
            end_text=end_text,
            end_url=end_url,
            file_name=file_name,
            file_size=file_size,
            generic_link_count=generic_link_count,
            id=id,
            is_active=is_active,
            page_count=page_count,
            title=title,
            updated_at=updated_at,
        )

        return lead_magnet
