from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Version")


@_attrs_define
class Version:
    """
    Attributes:
        file_name (str): Name of the file.
        file_size (int): Size of the file in bytes.
        page_count (int): Pages of the file.
        stored (bool): Whether the file is still stored. A replaced one is deleted once it is not read any more.
        unreadable_page (int | None): Page that the browser of a reader could not show, the first of several; 0 for the
            whole document. null: no browser reported one.
        uploaded_at (datetime.datetime): When it was uploaded.
        version (int): Number of the version, from 1.
    """

    file_name: str
    file_size: int
    page_count: int
    stored: bool
    unreadable_page: int | None
    uploaded_at: datetime.datetime
    version: int

    def to_dict(self) -> dict[str, Any]:
        file_name = self.file_name

        file_size = self.file_size

        page_count = self.page_count

        stored = self.stored

        unreadable_page: int | None
        unreadable_page = self.unreadable_page

        uploaded_at = self.uploaded_at.isoformat()

        version = self.version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "file_name": file_name,
                "file_size": file_size,
                "page_count": page_count,
                "stored": stored,
                "unreadable_page": unreadable_page,
                "uploaded_at": uploaded_at,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        file_name = d.pop("file_name")

        file_size = d.pop("file_size")

        page_count = d.pop("page_count")

        stored = d.pop("stored")

        def _parse_unreadable_page(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        unreadable_page = _parse_unreadable_page(d.pop("unreadable_page"))

        uploaded_at = datetime.datetime.fromisoformat(d.pop("uploaded_at"))

        version = d.pop("version")

        version_ = cls(
            file_name=file_name,
            file_size=file_size,
            page_count=page_count,
            stored=stored,
            unreadable_page=unreadable_page,
            uploaded_at=uploaded_at,
            version=version,
        )

        return version_
