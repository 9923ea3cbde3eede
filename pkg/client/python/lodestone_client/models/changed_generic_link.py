from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.changed_generic_link_language_type_0 import (
    ChangedGenericLinkLanguageType0,
    check_changed_generic_link_language_type_0,
)
from ..models.changed_generic_link_reading_notices_type_0 import (
    ChangedGenericLinkReadingNoticesType0,
    check_changed_generic_link_reading_notices_type_0,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedGenericLink")


@_attrs_define
class ChangedGenericLink:
    """
    Attributes:
        access_expires_after_days (int | None | Unset): Days for which personal links that the form gives from now on
            work; null for no end.
        active (bool | Unset): Whether the page is open.
        allowed_origins (list[str] | Unset): Origins of your own pages that may show the form. An empty list allows
            none.
        button_text (None | str | Unset): Label of the form's button; null for the default, which describes the action.
        collect_name (bool | Unset): Whether the form asks for a name.
        consent_text (None | str | Unset): Text that a visitor must agree to; null removes it.
        description (None | str | Unset): Description on the page; null clears it.
        expires_at (datetime.datetime | None | Unset): When the page closes (ISO 8601, in the future); null for never.
        language (ChangedGenericLinkLanguageType0 | None | Unset): Language of the page and of its mails; null for that
            of the account, or else the visitor's.
        privacy_url (None | str | Unset): http or https URL of the privacy notice; null clears it.
        reading_notices (ChangedGenericLinkReadingNoticesType0 | None | Unset): When the owner gets mails about readers
            who came through the page; null for the account's setting.
        redirect_url (None | str | Unset): http or https URL that the form leads to; null leads to the document.
        require_verification (bool | Unset): Whether the email address must be verified.
        show_contents (bool | Unset): Whether the page shows the document's table of contents.
        show_pages (bool | Unset): Whether the page shows blurred pictures of inside pages.
        show_readers (bool | Unset): Whether the page shows how many people have read the document, once they are ten.
        slug (str | Unset): Last part of the URL. The previous URL stops working; no other account can take it.
        thumbnail_url (None | str | Unset): http or https URL of the thumbnail image; null clears it.
        title (None | str | Unset): Headline of the page; null clears it.
    """

    access_expires_after_days: int | None | Unset = UNSET
    active: bool | Unset = UNSET
    allowed_origins: list[str] | Unset = UNSET
    button_text: None | str | Unset = UNSET
    collect_name: bool | Unset = UNSET
    consent_text: None | str | Unset = UNSET
    description: None | str | Unset = UNSET
    expires_at: datetime.datetime | None | Unset = UNSET
    language: ChangedGenericLinkLanguageType0 | None | Unset = UNSET
    privacy_url: None | str | Unset = UNSET
    reading_notices: ChangedGenericLinkReadingNoticesType0 | None | Unset = UNSET
    redirect_url: None | str | Unset = UNSET
    require_verification: bool | Unset = UNSET
    show_contents: bool | Unset = UNSET
    show_pages: bool | Unset = UNSET
    show_readers: bool | Unset = UNSET
    slug: str | Unset = UNSET
    thumbnail_url: None | str | Unset = UNSET
    title: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        access_expires_after_days: int | None | Unset
        if isinstance(self.access_expires_after_days, Unset):
            access_expires_after_days = UNSET
        else:
            access_expires_after_days = self.access_expires_after_days

        active = self.active

        allowed_origins: list[str] | Unset = UNSET
        if not isinstance(self.allowed_origins, Unset):
            allowed_origins = self.allowed_origins

        button_text: None | str | Unset
        if isinstance(self.button_text, Unset):
            button_text = UNSET
        else:
            button_text = self.button_text

        collect_name = self.collect_name

        consent_text: None | str | Unset
        if isinstance(self.consent_text, Unset):
            consent_text = UNSET
        else:
            consent_text = self.consent_text

        description: None | str | Unset
        if isinstance(self.description, Unset):
            description = UNSET
        else:
            description = self.description

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        elif isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        language: None | str | Unset
        if isinstance(self.language, Unset):
            language = UNSET
        elif isinstance(self.language, str):
            language = self.language
        else:
            language = self.language

        privacy_url: None | str | Unset
        if isinstance(self.privacy_url, Unset):
            privacy_url = UNSET
        else:
            privacy_url = self.privacy_url

        reading_notices: None | str | Unset
        if isinstance(self.reading_notices, Unset):
            reading_notices = UNSET
        elif isinstance(self.reading_notices, str):
            reading_notices = self.reading_notices
        else:
            reading_notices = self.reading_notices

        redirect_url: None | str | Unset
        if isinstance(self.redirect_url, Unset):
            redirect_url = UNSET
        else:
            redirect_url = self.redirect_url

        require_verification = self.require_verification

        show_contents = self.show_contents

        show_pages = self.show_pages

        show_readers = self.show_readers

        slug = self.slug

        thumbnail_url: None | str | Unset
        if isinstance(self.thumbnail_url, Unset):
            thumbnail_url = UNSET
        else:
            thumbnail_url = self.thumbnail_url

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if access_expires_after_days is not UNSET:
            field_dict["access_expires_after_days"] = access_expires_after_days
        if active is not UNSET:
            field_dict["active"] = active
        if allowed_origins is not UNSET:
            field_dict["allowed_origins"] = allowed_origins
        if button_text is not UNSET:
            field_dict["button_text"] = button_text
        if collect_name is not UNSET:
            field_dict["collect_name"] = collect_name
        if consent_text is not UNSET:
            field_dict["consent_text"] = consent_text
        if description is not UNSET:
            field_dict["description"] = description
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if language is not UNSET:
            field_dict["language"] = language
        if privacy_url is not UNSET:
            field_dict["privacy_url"] = privacy_url
        if reading_notices is not UNSET:
            field_dict["reading_notices"] = reading_notices
        if redirect_url is not UNSET:
            field_dict["redirect_url"] = redirect_url
        if require_verification is not UNSET:
            field_dict["require_verification"] = require_verification
        if show_contents is not UNSET:
            field_dict["show_contents"] = show_contents
        if show_pages is not UNSET:
            field_dict["show_pages"] = show_pages
        if show_readers is not UNSET:
            field_dict["show_readers"] = show_readers
        if slug is not UNSET:
            field_dict["slug"] = slug
        if thumbnail_url is not UNSET:
            field_dict["thumbnail_url"] = thumbnail_url
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_access_expires_after_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        access_expires_after_days = _parse_access_expires_after_days(d.pop("access_expires_after_days", UNSET))

        active = d.pop("active", UNSET)

        allowed_origins = cast(list[str], d.pop("allowed_origins", UNSET))

        def _parse_button_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        button_text = _parse_button_text(d.pop("button_text", UNSET))

        collect_name = d.pop("collect_name", UNSET)

        def _parse_consent_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        consent_text = _parse_consent_text(d.pop("consent_text", UNSET))

        def _parse_description(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        description = _parse_description(d.pop("description", UNSET))

        def _parse_expires_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                expires_at_type_0 = datetime.datetime.fromisoformat(data)

                return expires_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        def _parse_language(data: object) -> ChangedGenericLinkLanguageType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                language_type_0 = check_changed_generic_link_language_type_0(data)

                return language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChangedGenericLinkLanguageType0 | None | Unset, data)

        language = _parse_language(d.pop("language", UNSET))

        def _parse_privacy_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        privacy_url = _parse_privacy_url(d.pop("privacy_url", UNSET))

        def _parse_reading_notices(data: object) -> ChangedGenericLinkReadingNoticesType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reading_notices_type_0 = check_changed_generic_link_reading_notices_type_0(data)

                return reading_notices_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChangedGenericLinkReadingNoticesType0 | None | Unset, data)

        reading_notices = _parse_reading_notices(d.pop("reading_notices", UNSET))

        def _parse_redirect_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        redirect_url = _parse_redirect_url(d.pop("redirect_url", UNSET))

        require_verification = d.pop("require_verification", UNSET)

        show_contents = d.pop("show_contents", UNSET)

        show_pages = d.pop("show_pages", UNSET)

        show_readers = d.pop("show_readers", UNSET)

        slug = d.pop("slug", UNSET)

        def _parse_thumbnail_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        thumbnail_url = _parse_thumbnail_url(d.pop("thumbnail_url", UNSET))

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        changed_generic_link = cls(
            access_expires_after_days=access_expires_after_days,
            active=active,
            allowed_origins=allowed_origins,
            button_text=button_text,
            collect_name=collect_name,
            consent_text=consent_text,
            description=description,
            expires_at=expires_at,
            language=language,
            privacy_url=privacy_url,
            reading_notices=reading_notices,
            redirect_url=redirect_url,
            require_verification=require_verification,
            show_contents=show_contents,
            show_pages=show_pages,
            show_readers=show_readers,
            slug=slug,
            thumbnail_url=thumbnail_url,
            title=title,
        )

        return changed_generic_link
