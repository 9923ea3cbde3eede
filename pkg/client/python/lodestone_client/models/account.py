from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.account_brand_font import AccountBrandFont, check_account_brand_font
from ..models.account_language_type_0 import (
    AccountLanguageType0,
    check_account_language_type_0,
)
from ..models.account_notify import AccountNotify, check_account_notify
from ..models.account_plan import AccountPlan, check_account_plan
from ..models.account_reading_notices import (
    AccountReadingNotices,
    check_account_reading_notices,
)

if TYPE_CHECKING:
    from ..models.allowance import Allowance
    from ..models.usage import Usage


T = TypeVar("T", bound="Account")


@_attrs_define
class Account:
    """
    Attributes:
        brand_color (None | str): Accent colour of the account's pages, as #rrggbb; null for the default. If its
            contrast is too low, the pages darken or lighten it.
        brand_font (AccountBrandFont): Typeface of the account's pages: that of the visitor's system, or Inter, which
            the pages load.
        created_at (datetime.datetime): When it was created.
        id (str): Unique identifier.
        language (AccountLanguageType0 | None): Language of the account's pages and mails; null for that of each
            visitor, and English for the owner's mails.
        limits (Allowance):
        name (str): Name of the account.
        notify (AccountNotify): When mails about leads are sent: for each lead, once a day (after 05:00 in the account's
            time zone, about the previous day), or never. Mails about disabled webhooks are sent immediately, unless it is
            none.
        notify_email (None | str): Address for mails about new leads, readers, weeks and disabled webhooks; null if no
            mails are sent.
        notify_email_confirmed (bool): Whether the reader of notify_email agreed to get mails. Until then, only the mail
            that asks is sent to it.
        plan (AccountPlan): Plan of the account.
        reading_notices (AccountReadingNotices): When mails about readers are sent, who opened a document for the first
            time, finished it, downloaded it or came back after a day: when their visit is over, once a day, or never. A
            generic link can have a setting of its own.
        timezone (str): Time zone of the account, as its IANA name. Mails to the owner give times in it.
        usage (Usage):
        weekly_report (bool): Whether a report about the past week is sent to notify_email on Mondays, after 07:00 in
            the account's time zone. If the address is that of one of the account's people, their own setting decides.
    """

    brand_color: None | str
    brand_font: AccountBrandFont
    created_at: datetime.datetime
    id: str
    language: AccountLanguageType0 | None
    limits: Allowance
    name: str
    notify: AccountNotify
    notify_email: None | str
    notify_email_confirmed: bool
    plan: AccountPlan
    reading_notices: AccountReadingNotices
    timezone: str
    usage: Usage
    weekly_report: bool

    def to_dict(self) -> dict[str, Any]:
        brand_color: None | str
        brand_color = self.brand_color

        brand_font: str = self.brand_font

        created_at = self.created_at.isoformat()

        id = self.id

        language: None | str
        if isinstance(self.language, str):
            language = self.language
        else:
            language = self.language

        limits = self.limits.to_dict()

        name = self.name

        notify: str = self.notify

        notify_email: None | str
        notify_email = self.notify_email

        notify_email_confirmed = self.notify_email_confirmed

        plan: str = self.plan

        reading_notices: str = self.reading_notices

        timezone = self.timezone

        usage = self.usage.to_dict()

        weekly_report = self.weekly_report

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "brand_color": brand_color,
                "brand_font": brand_font,
                "created_at": created_at,
                "id": id,
                "language": language,
                "limits": limits,
                "name": name,
                "notify": notify,
                "notify_email": notify_email,
                "notify_email_confirmed": notify_email_confirmed,
                "plan": plan,
                "reading_notices": reading_notices,
                "timezone": timezone,
                "usage": usage,
                "weekly_report": weekly_report,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.allowance import Allowance  # noqa: PLC0415
        from ..models.usage import Usage  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_brand_color(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        brand_color = _parse_brand_color(d.pop("brand_color"))

        brand_font = check_account_brand_font(d.pop("brand_font"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        id = d.pop("id")

        def _parse_language(data: object) -> AccountLanguageType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                language_type_0 = check_account_language_type_0(data)

                return language_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AccountLanguageType0 | None, data)

        language = _parse_language(d.pop("language"))

        limits = Allowance.from_dict(d.pop("limits"))

        name = d.pop("name")

        notify = check_account_notify(d.pop("notify"))

        def _parse_notify_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        notify_email = _parse_notify_email(d.pop("notify_email"))

        notify_email_confirmed = d.pop("notify_email_confirmed")

        plan = check_account_plan(d.pop("plan"))

        reading_notices = check_account_reading_notices(d.pop("reading_notices"))

        timezone = d.pop("timezone")

        usage = Usage.from_dict(d.pop("usage"))

        weekly_report = d.pop("weekly_report")

        account = cls(
            brand_color=brand_color,
            brand_font=brand_font,
            created_at=created_at,
            id=id,
            language=language,
            limits=limits,
            name=name,
            notify=notify,
            notify_email=notify_email,
            notify_email_confirmed=notify_email_confirmed,
            plan=plan,
            reading_notices=reading_notices,
            timezone=timezone,
            usage=usage,
            weekly_report=weekly_report,
        )

        return account
