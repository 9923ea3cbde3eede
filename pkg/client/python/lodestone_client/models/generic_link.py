from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.generic_link_language_type_0 import (
    GenericLinkLanguageType0,
    check_generic_link_language_type_0,
)
from ..models.generic_link_reading_notices_type_0 import (
    GenericLinkReadingNoticesType0,
    check_generic_link_reading_notices_type_0,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.lead_magnet import LeadMagnet


T = TypeVar("T", bound="GenericLink")


@_attrs_define
class GenericLink:
    """
    Attributes:
        access_expires_after_days (int | None): Days for which personal links given by the form work; null for no end.
        active (bool): Whether the page is open.
        allowed_origins (list[str]): Origins of your own pages that may show the form.
        button_text (None | str): Label of the form's button; null for the default, which describes the action.
        collect_name (bool): Whether the form asks for a name.
        consent_text (None | str): Text that a visitor must agree to.
        created_at (datetime.datetime): When it was created.
        description (None | str): Description on the page.
        expires_at (datetime.datetime | None): When the page closes; null for never.
        id (str): Unique identifier.
        language (GenericLinkLanguageType0 | None): Language of the page and of its mails; null for that of the account,
            or else the visitor's.
        lead_magnet_id (str): Lead magnet that the page offers.
        privacy_url (None | str): URL of the privacy notice.
        reading_notices (GenericLinkReadingNoticesType0 | None): When the owner gets mails about readers who came
            through the page: for each visit that matters, once a day, or never; null for the account's setting.
        redirect_url (None | str): URL that the form leads to; null: to the document.
        require_verification (bool): Whether the email address must be verified.
        show_contents (bool): Whether the page shows the document's table of contents.
        show_pages (bool): Whether the page shows blurred pictures of inside pages.
        show_readers (bool): Whether the page shows how many people have read the document, once they are ten.
        slug (str): Last part of the URL.
        submission_count (int): Submissions so far.
        thumbnail_url (None | str): URL of the picture that the page shows: the one that was set, otherwise the
            document's first page; null if there is neither.
        title (None | str): Headline of the page.
        updated_at (datetime.datetime): When it was last changed.
        url (str): Full public URL.
        view_count (int): Views of the page by people so far. Each visitor counts at most once a minute.
        lead_magnet (LeadMagnet | Unset):
    """

    access_expires_after_days: int | None
    active: bool
    allowed_origins: list[str]
    button_text: None | str
    collect_name: bool
    consent_text: None | str
    created_at: datetime.datetime
    description: None | str
    expires_at: datetime.datetime | None
    id: str
    language: GenericLinkLanguageType0 | None
    lead_magnet_id: str
    privacy_url: None | str
    reading_notices: GenericLinkReadingNoticesType0 | None
    redirect_url: None | str
    require_verification: bool
    show_contents: bool
    show_pages: bool
    show_readers: bool
    slug: str
    submission_count: int
    thumbnail_url: None | str
    title: None | str
    updated_at: datetime.datetime
    url: str
    view_count: int
    lead_magnet: LeadMagnet | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        access_expires_after_days: int | None
        access_expires_after_days = self.access_expires_after_days

        active = self.active

        allowed_origins = self.allowed_origins

        button_text: None | str
        button_text = self.button_text

        collect_name = self.collect_name

        consent_text: None | str
        consent_text = self.consent_text

        created_at = self.created_at.isoformat()

        description: None | str
        description = self.description

        expires_at: None | str
        if isinstance(self.expires_at, datetime.datetime):
            expires_at = self.expires_at.isoformat()
        else:
            expires_at = self.expires_at

        id = self.id

        language: None | str
        if isinstance(self.language, str):
            language = self.language
        else:
            language = self.language

        lead_magnet_id = self.lead_magnet_id

        privacy_url: None | str
        privacy_url = self.privacy_url

        reading_notices: None | str
        if isinstance(self.reading_notices, str):
            reading_notices = self.reading_notices
        else:
            reading_notices = self.reading_notices

        redirect_url: None | str
        redirect_url = self.redirect_url

        require_verification = self.require_verification

        show_contents = self.show_contents

        show_pages = self.show_pages

        show_readers = self.show_readers

        slug = self.slug

        submission_count = self.submission_count

        thumbnail_url: None | str
        thumbnail_url = self.thumbnail_url

        title: None | str
        title = self.title

        updated_at = self.updated_at.isoformat()

        url = self.url

        view_count = self.view_count

        lead_magnet: dict[str, Any] | Unset = UNSET
        if not isinstance(self.lead_magnet, Unset):
            lead_magnet = self.lead_magnet.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_expires_after_days": access_expires_after_days,
                "active": active,
                "allowed_origins": allowed_origins,
                "button_text": button_text,
                "collect_name": collect_name,
                "consent_text": consent_text,
                "created_at": created_at,
                "description": description,
                "expires_at": expires_at,
                "id": id,
                "language": language,
                "lead_magnet_id": lead_magnet_id,
                "privacy_url": privacy_url,
                "reading_notices": reading_notices,
                "redirect_url": redirect_url,
                "require_verification": require_verification,
                "show_contents": show_contents,
                "show_pages": show_pages,
                "show_readers": show_readers,
                "slug": slug,
                "submission_count": submission_count,
                "thumbnail_url": thumbnail_url,
                "title": title,
                "updated_at": updated_at,
                "url": url,
                "view_count": view_count,
            }
        )
        if lead_magnet is not UNSET:
            field_dict["lead_magnet"] = lead_magnet

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.lead_magnet import LeadMagnet  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_access_expires_after_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        access_expires_after_days = _parse_access_expires_after_days(d.pop("access_expires_after_days"))

        active = d.pop("active")

        allowed_origins = cast(list[str], d.pop("allowed_origins"))

        def _parse_button_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        button_text = _parse_button_text(d.pop("button_text"))

        collect_name = d.pop("collect_name")

        def _parse_consent_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        consent_text = _parse_consent_text(d.pop("consent_text"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_description(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        description = _parse_description(d.pop("description"))

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

        id = d.pop("id")

        def _parse_language(data: object) -> GenericLinkLanguageType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                language_type_0 = check_generic_link_language_type_0(data)

                return language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GenericLinkLanguageType0 | None, data)

        language = _parse_language(d.pop("language"))

        lead_magnet_id = d.pop("lead_magnet_id")

        def _parse_privacy_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        privacy_url = _parse_privacy_url(d.pop("privacy_url"))

        def _parse_reading_notices(data: object) -> GenericLinkReadingNoticesType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reading_notices_type_0 = check_generic_link_reading_notices_type_0(data)

                return reading_notices_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GenericLinkReadingNoticesType0 | None, data)

        reading_notices = _parse_reading_notices(d.pop("reading_notices"))

        def _parse_redirect_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        redirect_url = _parse_redirect_url(d.pop("redirect_url"))

        require_verification = d.pop("require_verification")

        show_contents = d.pop("show_contents")

        show_pages = d.pop("show_pages")

        show_readers = d.pop("show_readers")

        slug = d.pop("slug")

        submission_count = d.pop("submission_count")

        def _parse_thumbnail_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        thumbnail_url = _parse_thumbnail_url(d.pop("thumbnail_url"))

        def _parse_title(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        title = _parse_title(d.pop("title"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        url = d.pop("url")

        view_count = d.pop("view_count")

        _lead_magnet = d.pop("lead_magnet", UNSET)
        lead_magnet: LeadMagnet | Unset
        if isinstance(_lead_magnet, Unset):
            lead_magnet = UNSET
        else:
            lead_magnet = LeadMagnet.from_dict(_lead_magnet)

        generic_link = cls(
            access_expires_after_days=access_expires_after_days,
            active=active,
            allowed_origins=allowed_origins,
            button_text=button_text,
            collect_name=collect_name,
            consent_text=consent_text,
            created_at=created_at,
            description=description,
            expires_at=expires_at,
            id=id,
            language=language,
            lead_magnet_id=lead_magnet_id,
            privacy_url=privacy_url,
            reading_notices=reading_notices,
            redirect_url=redirect_url,
            require_verification=require_verification,
            show_contents=show_contents,
            show_pages=show_pages,
            show_readers=show_readers,
            slug=slug,
            submission_count=submission_count,
            thumbnail_url=thumbnail_url,
            title=title,
            updated_at=updated_at,
            url=url,
            view_count=view_count,
            lead_magnet=lead_magnet,
        )

        return generic_link
