from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.changed_account_brand_font import (
    ChangedAccountBrandFont,
    check_changed_account_brand_font,
)
from ..models.changed_account_language_type_0 import (
    ChangedAccountLanguageType0,
    check_changed_account_language_type_0,
)
from ..models.changed_account_notify import (
    ChangedAccountNotify,
    check_changed_account_notify,
)
from ..models.changed_account_reading_notices import (
    ChangedAccountReadingNotices,
    check_changed_account_reading_notices,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ChangedAccount")


@_attrs_define
class ChangedAccount:
    """
    Attributes:
        brand_color (None | str | Unset): Accent colour of the account's pages; null for the default.
        brand_font (ChangedAccountBrandFont | Unset): Typeface of the account's pages.
        language (ChangedAccountLanguageType0 | None | Unset): Language of the account's pages and mails; null for that
            of each visitor, and English for the owner's mails.
        name (str | Unset): Name of the account. Its pages and mails show it.
        notify (ChangedAccountNotify | Unset): When mails about leads are sent.
        notify_email (None | str | Unset): Address for mails about new leads, readers, weeks and disabled webhooks, once
            it is confirmed. A mail asks for the confirmation; set the same address again to repeat that mail. null: no
            notices.
        reading_notices (ChangedAccountReadingNotices | Unset): When mails about readers are sent.
        timezone (str | Unset): Time zone of the account, as its IANA name, such as Europe/Berlin.
        weekly_report (bool | Unset): Whether the weekly report is sent to notify_email.
    """

    brand_color: None | str | Unset = UNSET
    brand_font: ChangedAccountBrandFont | Unset = UNSET
    language: ChangedAccountLanguageType0 | None | Unset = UNSET
    name: str | Unset = UNSET
    notify: ChangedAccountNotify | Unset = UNSET
    notify_email: None | str | Unset = UNSET
    reading_notices: ChangedAccountReadingNotices | Unset = UNSET
    timezone: str | Unset = UNSET
    weekly_report: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        brand_color: None | str | Unset
        if isinstance(self.brand_color, Unset):
            brand_color = UNSET
        else:
            brand_color = self.brand_color

        brand_font: str | Unset = UNSET
        if not isinstance(self.brand_font, Unset):
            brand_font = self.brand_font

        language: None | str | Unset
        if isinstance(self.language, Unset):
            language = UNSET
        elif isinstance(self.language, str):
            language = self.language
        else:
            language = self.language

        name = self.name

        notify: str | Unset = UNSET
        if not isinstance(self.notify, Unset):
            notify = self.notify

        notify_email: None | str | Unset
        if isinstance(self.notify_email, Unset):
            notify_email = UNSET
        else:
            notify_email = self.notify_email

        reading_notices: str | Unset = UNSET
        if not isinstance(self.reading_notices, Unset):
            reading_notices = self.reading_notices

        timezone = self.timezone

        weekly_report = self.weekly_report

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if brand_color is not UNSET:
            field_dict["brand_color"] = brand_color
        if brand_font is not UNSET:
            field_dict["brand_font"] = brand_font
        if language is not UNSET:
            field_dict["language"] = language
        if name is not UNSET:
            field_dict["name"] = name
        if notify is not UNSET:
            field_dict["notify"] = notify
        if notify_email is not UNSET:
            field_dict["notify_email"] = notify_email
        if reading_notices is not UNSET:
            field_dict["reading_notices"] = reading_notices
        if timezone is not UNSET:
            field_dict["timezone"] = timezone
        if weekly_report is not UNSET:
            field_dict["weekly_report"] = weekly_report

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_brand_color(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        brand_color = _parse_brand_color(d.pop("brand_color", UNSET))

        _brand_font = d.pop("brand_font", UNSET)
        brand_font: ChangedAccountBrandFont | Unset
        if isinstance(_brand_font, Unset):
            brand_font = UNSET
        else:
            brand_font = check_changed_account_brand_font(_brand_font)

        def _parse_language(data: object) -> ChangedAccountLanguageType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                language_type_0 = check_changed_account_language_type_0(data)

                return language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ChangedAccountLanguageType0 | None | Unset, data)

        language = _parse_language(d.pop("language", UNSET))

        name = d.pop("name", UNSET)

        _notify = d.pop("notify", UNSET)
        notify: ChangedAccountNotify | Unset
        if isinstance(_notify, Unset):
            notify = UNSET
        else:
            notify = check_changed_account_notify(_notify)

        def _parse_notify_email(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        notify_email = _parse_notify_email(d.pop("notify_email", UNSET))

        _reading_notices = d.pop("reading_notices", UNSET)
        reading_notices: ChangedAccountReadingNotices | Unset
        if isinstance(_reading_notices, Unset):
            reading_notices = UNSET
        else:
            reading_notices = check_changed_account_reading_notices(_reading_notices)

        timezone = d.pop("timezone", UNSET)

        weekly_report = d.pop("weekly_report", UNSET)

        changed_account = cls(
            brand_color=brand_color,
            brand_font=brand_font,
            language=language,
            name=name,
            notify=notify,
            notify_email=notify_email,
            reading_notices=reading_notices,
            timezone=timezone,
            weekly_report=weekly_report,
        )

        return changed_account
