from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.values_device_item import ValuesDeviceItem, check_values_device_item
from ..models.values_event_type_item import (
    ValuesEventTypeItem,
    check_values_event_type_item,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="Values")


@_attrs_define
class Values:
    """
    Attributes:
        access_link_id (list[str] | Unset):
        bot (list[bool] | Unset):
        browser (list[None | str] | Unset): Such as Chrome or Safari.
        country (list[None | str] | Unset): Codes of two letters, such as DE.
        device (list[ValuesDeviceItem] | Unset):
        email_domain (list[None | str] | Unset):
        event_type (list[ValuesEventTypeItem] | Unset):
        generic_link_id (list[None | str] | Unset):
        hour_of_day (list[int] | Unset):
        language (list[None | str] | Unset): Codes of two or three letters, such as de.
        lead_magnet_id (list[str] | Unset):
        magnet_version (list[int] | Unset):
        os (list[None | str] | Unset): Such as Windows or iOS.
        page (list[int | None] | Unset):
        referrer_host (list[None | str] | Unset):
        utm_campaign (list[None | str] | Unset):
        utm_content (list[None | str] | Unset):
        utm_medium (list[None | str] | Unset):
        utm_source (list[None | str] | Unset):
        utm_term (list[None | str] | Unset):
        weekday (list[int] | Unset): 1 is Monday.
    """

    access_link_id: list[str] | Unset = UNSET
    bot: list[bool] | Unset = UNSET
    browser: list[None | str] | Unset = UNSET
    country: list[None | str] | Unset = UNSET
    device: list[ValuesDeviceItem] | Unset = UNSET
    email_domain: list[None | str] | Unset = UNSET
    event_type: list[ValuesEventTypeItem] | Unset = UNSET
    generic_link_id: list[None | str] | Unset = UNSET
    hour_of_day: list[int] | Unset = UNSET
    language: list[None | str] | Unset = UNSET
    lead_magnet_id: list[str] | Unset = UNSET
    magnet_version: list[int] | Unset = UNSET
    os: list[None | str] | Unset = UNSET
    page: list[int | None] | Unset = UNSET
    referrer_host: list[None | str] | Unset = UNSET
    utm_campaign: list[None | str] | Unset = UNSET
    utm_content: list[None | str] | Unset = UNSET
    utm_medium: list[None | str] | Unset = UNSET
    utm_source: list[None | str] | Unset = UNSET
    utm_term: list[None | str] | Unset = UNSET
    weekday: list[int] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        access_link_id: list[str] | Unset = UNSET
        if not isinstance(self.access_link_id, Unset):
            access_link_id = self.access_link_id

        bot: list[bool] | Unset = UNSET
        if not isinstance(self.bot, Unset):
            bot = self.bot

        browser: list[None | str] | Unset = UNSET
        if not isinstance(self.browser, Unset):
            browser = []
            for browser_item_data in self.browser:
                browser_item: None | str
                browser_item = browser_item_data
                browser.append(browser_item)

        country: list[None | str] | Unset = UNSET
        if not isinstance(self.country, Unset):
            country = []
            for country_item_data in self.country:
                country_item: None | str
                country_item = country_item_data
                country.append(country_item)

        device: list[str] | Unset = UNSET
        if not isinstance(self.device, Unset):
            device = []
            for device_item_data in self.device:
                device_item: str = device_item_data
                device.append(device_item)

        email_domain: list[None | str] | Unset = UNSET
        if not isinstance(self.email_domain, Unset):
            email_domain = []
            for email_domain_item_data in self.email_domain:
                email_domain_item: None | str
                email_domain_item = email_domain_item_data
                email_domain.append(email_domain_item)

        event_type: list[str] | Unset = UNSET
        if not isinstance(self.event_type, Unset):
            event_type = []
            for event_type_item_data in self.event_type:
                event_type_item: str = event_type_item_data
                event_type.append(event_type_item)

        generic_link_id: list[None | str] | Unset = UNSET
        if not isinstance(self.generic_link_id, Unset):
            generic_link_id = []
            for generic_link_id_item_data in self.generic_link_id:
                generic_link_id_item: None | str
                generic_link_id_item = generic_link_id_item_data
                generic_link_id.append(generic_link_id_item)

        hour_of_day: list[int] | Unset = UNSET
        if not isinstance(self.hour_of_day, Unset):
            hour_of_day = self.hour_of_day

        language: list[None | str] | Unset = UNSET
        if not isinstance(self.language, Unset):
            language = []
            for language_item_data in self.language:
                language_item: None | str
                language_item = language_item_data
                language.append(language_item)

        lead_magnet_id: list[str] | Unset = UNSET
        if not isinstance(self.lead_magnet_id, Unset):
            lead_magnet_id = self.lead_magnet_id

        magnet_version: list[int] | Unset = UNSET
        if not isinstance(self.magnet_version, Unset):
            magnet_version = self.magnet_version

        os: list[None | str] | Unset = UNSET
        if not isinstance(self.os, Unset):
            os = []
            for os_item_data in self.os:
                os_item: None | str
                os_item = os_item_data
                os.append(os_item)

        page: list[int | None] | Unset = UNSET
        if not isinstance(self.page, Unset):
            page = []
            for page_item_data in self.page:
                page_item: int | None
                page_item = page_item_data
                page.append(page_item)

        referrer_host: list[None | str] | Unset = UNSET
        if not isinstance(self.referrer_host, Unset):
            referrer_host = []
            for referrer_host_item_data in self.referrer_host:
                referrer_host_item: None | str
                referrer_host_item = referrer_host_item_data
                referrer_host.append(referrer_host_item)

        utm_campaign: list[None | str] | Unset = UNSET
        if not isinstance(self.utm_campaign, Unset):
            utm_campaign = []
            for utm_campaign_item_data in self.utm_campaign:
                utm_campaign_item: None | str
                utm_campaign_item = utm_campaign_item_data
                utm_campaign.append(utm_campaign_item)

        utm_content: list[None | str] | Unset = UNSET
        if not isinstance(self.utm_content, Unset):
            utm_content = []
            for utm_content_item_data in self.utm_content:
                utm_content_item: None | str
                utm_content_item = utm_content_item_data
                utm_content.append(utm_content_item)

        utm_medium: list[None | str] | Unset = UNSET
        if not isinstance(self.utm_medium, Unset):
            utm_medium = []
            for utm_medium_item_data in self.utm_medium:
                utm_medium_item: None | str
                utm_medium_item = utm_medium_item_data
                utm_medium.append(utm_medium_item)

        utm_source: list[None | str] | Unset = UNSET
        if not isinstance(self.utm_source, Unset):
            utm_source = []
            for utm_source_item_data in self.utm_source:
                utm_source_item: None | str
                utm_source_item = utm_source_item_data
                utm_source.append(utm_source_item)

        utm_term: list[None | str] | Unset = UNSET
        if not isinstance(self.utm_term, Unset):
            utm_term = []
            for utm_term_item_data in self.utm_term:
                utm_term_item: None | str
                utm_term_item = utm_term_item_data
                utm_term.append(utm_term_item)

        weekday: list[int] | Unset = UNSET
        if not isinstance(self.weekday, Unset):
            weekday = self.weekday

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if access_link_id is not UNSET:
            field_dict["access_link_id"] = access_link_id
        if bot is not UNSET:
            field_dict["bot"] = bot
        if browser is not UNSET:
            field_dict["browser"] = browser
        if country is not UNSET:
            field_dict["country"] = country
        if device is not UNSET:
            field_dict["device"] = device
        if email_domain is not UNSET:
            field_dict["email_domain"] = email_domain
        if event_type is not UNSET:
            field_dict["event_type"] = event_type
        if generic_link_id is not UNSET:
            field_dict["generic_link_id"] = generic_link_id
        if hour_of_day is not UNSET:
            field_dict["hour_of_day"] = hour_of_day
        if language is not UNSET:
            field_dict["language"] = language
        if lead_magnet_id is not UNSET:
            field_dict["lead_magnet_id"] = lead_magnet_id
        if magnet_version is not UNSET:
            field_dict["magnet_version"] = magnet_version
        if os is not UNSET:
            field_dict["os"] = os
        if page is not UNSET:
            field_dict["page"] = page
        if referrer_host is not UNSET:
            field_dict["referrer_host"] = referrer_host
        if utm_campaign is not UNSET:
            field_dict["utm_campaign"] = utm_campaign
        if utm_content is not UNSET:
            field_dict["utm_content"] = utm_content
        if utm_medium is not UNSET:
            field_dict["utm_medium"] = utm_medium
        if utm_source is not UNSET:
            field_dict["utm_source"] = utm_source
        if utm_term is not UNSET:
            field_dict["utm_term"] = utm_term
        if weekday is not UNSET:
            field_dict["weekday"] = weekday

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_link_id = cast(list[str], d.pop("access_link_id", UNSET))

        bot = cast(list[bool], d.pop("bot", UNSET))

        _browser = d.pop("browser", UNSET)
        browser: list[None | str] | Unset = UNSET
        if _browser is not UNSET:
            browser = []
            for browser_item_data in _browser:

                def _parse_browser_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                browser_item = _parse_browser_item(browser_item_data)

                browser.append(browser_item)

        _country = d.pop("country", UNSET)
        country: list[None | str] | Unset = UNSET
        if _country is not UNSET:
            country = []
            for country_item_data in _country:

                def _parse_country_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                country_item = _parse_country_item(country_item_data)

                country.append(country_item)

        _device = d.pop("device", UNSET)
        device: list[ValuesDeviceItem] | Unset = UNSET
        if _device is not UNSET:
            device = []
            for device_item_data in _device:
                device_item = check_values_device_item(device_item_data)

                device.append(device_item)

        _email_domain = d.pop("email_domain", UNSET)
        email_domain: list[None | str] | Unset = UNSET
        if _email_domain is not UNSET:
            email_domain = []
            for email_domain_item_data in _email_domain:

                def _parse_email_domain_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                email_domain_item = _parse_email_domain_item(email_domain_item_data)

                email_domain.append(email_domain_item)

        _event_type = d.pop("event_type", UNSET)
        event_type: list[ValuesEventTypeItem] | Unset = UNSET
        if _event_type is not UNSET:
            event_type = []
            for event_type_item_data in _event_type:
                event_type_item = check_values_event_type_item(event_type_item_data)

                event_type.append(event_type_item)

        _generic_link_id = d.pop("generic_link_id", UNSET)
        generic_link_id: list[None | str] | Unset = UNSET
        if _generic_link_id is not UNSET:
            generic_link_id = []
            for generic_link_id_item_data in _generic_link_id:

                def _parse_generic_link_id_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                generic_link_id_item = _parse_generic_link_id_item(generic_link_id_item_data)

                generic_link_id.append(generic_link_id_item)

        hour_of_day = cast(list[int], d.pop("hour_of_day", UNSET))

        _language = d.pop("language", UNSET)
        language: list[None | str] | Unset = UNSET
        if _language is not UNSET:
            language = []
            for language_item_data in _language:

                def _parse_language_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                language_item = _parse_language_item(language_item_data)

                language.append(language_item)

        lead_magnet_id = cast(list[str], d.pop("lead_magnet_id", UNSET))

        magnet_version = cast(list[int], d.pop("magnet_version", UNSET))

        _os = d.pop("os", UNSET)
        os: list[None | str] | Unset = UNSET
        if _os is not UNSET:
            os = []
            for os_item_data in _os:

                def _parse_os_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                os_item = _parse_os_item(os_item_data)

                os.append(os_item)

        _page = d.pop("page", UNSET)
        page: list[int | None] | Unset = UNSET
        if _page is not UNSET:
            page = []
            for page_item_data in _page:

                def _parse_page_item(data: object) -> int | None:
                    if data is None:
                        return data
                    return cast(int | None, data)

                page_item = _parse_page_item(page_item_data)

                page.append(page_item)

        _referrer_host = d.pop("referrer_host", UNSET)
        referrer_host: list[None | str] | Unset = UNSET
        if _referrer_host is not UNSET:
            referrer_host = []
            for referrer_host_item_data in _referrer_host:

                def _parse_referrer_host_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                referrer_host_item = _parse_referrer_host_item(referrer_host_item_data)

                referrer_host.append(referrer_host_item)

        _utm_campaign = d.pop("utm_campaign", UNSET)
        utm_campaign: list[None | str] | Unset = UNSET
        if _utm_campaign is not UNSET:
            utm_campaign = []
            for utm_campaign_item_data in _utm_campaign:

                def _parse_utm_campaign_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                utm_campaign_item = _parse_utm_campaign_item(utm_campaign_item_data)

                utm_campaign.append(utm_campaign_item)

        _utm_content = d.pop("utm_content", UNSET)
        utm_content: list[None | str] | Unset = UNSET
        if _utm_content is not UNSET:
            utm_content = []
            for utm_content_item_data in _utm_content:

                def _parse_utm_content_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                utm_content_item = _parse_utm_content_item(utm_content_item_data)

                utm_content.append(utm_content_item)

        _utm_medium = d.pop("utm_medium", UNSET)
        utm_medium: list[None | str] | Unset = UNSET
        if _utm_medium is not UNSET:
            utm_medium = []
            for utm_medium_item_data in _utm_medium:

                def _parse_utm_medium_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                utm_medium_item = _parse_utm_medium_item(utm_medium_item_data)

                utm_medium.append(utm_medium_item)

        _utm_source = d.pop("utm_source", UNSET)
        utm_source: list[None | str] | Unset = UNSET
        if _utm_source is not UNSET:
            utm_source = []
            for utm_source_item_data in _utm_source:

                def _parse_utm_source_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                utm_source_item = _parse_utm_source_item(utm_source_item_data)

                utm_source.append(utm_source_item)

        _utm_term = d.pop("utm_term", UNSET)
        utm_term: list[None | str] | Unset = UNSET
        if _utm_term is not UNSET:
            utm_term = []
            for utm_term_item_data in _utm_term:

                def _parse_utm_term_item(data: object) -> None | str:
                    if data is None:
                        return data
                    return cast(None | str, data)

                utm_term_item = _parse_utm_term_item(utm_term_item_data)

                utm_term.append(utm_term_item)

        weekday = cast(list[int], d.pop("weekday", UNSET))

        values = cls(
            access_link_id=access_link_id,
            bot=bot,
            browser=browser,
            country=country,
            device=device,
            email_domain=email_domain,
            event_type=event_type,
            generic_link_id=generic_link_id,
            hour_of_day=hour_of_day,
            language=language,
            lead_magnet_id=lead_magnet_id,
            magnet_version=magnet_version,
            os=os,
            page=page,
            referrer_host=referrer_host,
            utm_campaign=utm_campaign,
            utm_content=utm_content,
            utm_medium=utm_medium,
            utm_source=utm_source,
            utm_term=utm_term,
            weekday=weekday,
        )

        return values
