from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.person_submission_utm_type_0 import PersonSubmissionUtmType0


T = TypeVar("T", bound="PersonSubmission")


@_attrs_define
class PersonSubmission:
    """
    Attributes:
        consent_text (None | str): What the visitor agreed to.
        consented_at (datetime.datetime | None):
        email (str): Address, as typed.
        first_viewed_at (datetime.datetime | None):
        generic_link_id (str): Generic link that it was submitted through.
        id (str):
        last_viewed_at (datetime.datetime | None):
        name (None | str): Name; null if none was given.
        privacy_url (None | str): Privacy policy that was linked.
        referrer (None | str): Page before the landing page, without its query.
        submitted_at (datetime.datetime):
        utm (None | PersonSubmissionUtmType0): Parameters of the landing page's URL; null if there were none.
        verified_at (datetime.datetime | None): When the address was confirmed.
        view_count (int): Views of the document.
    """

    consent_text: None | str
    consented_at: datetime.datetime | None
    email: str
    first_viewed_at: datetime.datetime | None
    generic_link_id: str
    id: str
    last_viewed_at: datetime.datetime | None
    name: None | str
    privacy_url: None | str
    referrer: None | str
    submitted_at: datetime.datetime
    utm: None | PersonSubmissionUtmType0
    verified_at: datetime.datetime | None
    view_count: int

    def to_dict(self) -> dict[str, Any]:
        from ..models.person_submission_utm_type_0 import PersonSubmissionUtmType0  # noqa: PLC0415

        consent_text: None | str
        consent_text = self.consent_text

        consented_at: None | str
        if isinstance(self.consented_at, datetime.datetime):
            consented_at = self.consented_at.isoformat()
        else:
            consented_at = self.consented_at

        email = self.email

        first_viewed_at: None | str
        if isinstance(self.first_viewed_at, datetime.datetime):
            first_viewed_at = self.first_viewed_at.isoformat()
        else:
            first_viewed_at = self.first_viewed_at

        generic_link_id = self.generic_link_id

        id = self.id

        last_viewed_at: None | str
        if isinstance(self.last_viewed_at, datetime.datetime):
            last_viewed_at = self.last_viewed_at.isoformat()
        else:
            last_viewed_at = self.last_viewed_at

        name: None | str
        name = self.name

        privacy_url: None | str
        privacy_url = self.privacy_url

        referrer: None | str
        referrer = self.referrer

        submitted_at = self.submitted_at.isoformat()

        utm: dict[str, Any] | None
        if isinstance(self.utm, PersonSubmissionUtmType0):
            utm = self.utm.to_dict()
        else:
            utm = self.utm

        verified_at: None | str
        if isinstance(self.verified_at, datetime.datetime):
            verified_at = self.verified_at.isoformat()
        else:
            verified_at = self.verified_at

        view_count = self.view_count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consent_text": consent_text,
                "consented_at": consented_at,
                "email": email,
                "first_viewed_at": first_viewed_at,
                "generic_link_id": generic_link_id,
                "id": id,
                "last_viewed_at": last_viewed_at,
                "name": name,
                "privacy_url": privacy_url,
                "referrer": referrer,
                "submitted_at": submitted_at,
                "utm": utm,
                "verified_at": verified_at,
                "view_count": view_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person_submission_utm_type_0 import PersonSubmissionUtmType0  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_consent_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        consent_text = _parse_consent_text(d.pop("consent_text"))

        def _parse_consented_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                consented_at_type_0 = datetime.datetime.fromisoformat(data)

                return consented_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        consented_at = _parse_consented_at(d.pop("consented_at"))

        email = d.pop("email")

        def _parse_first_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                first_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return first_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        first_viewed_at = _parse_first_viewed_at(d.pop("first_viewed_at"))

        generic_link_id = d.pop("generic_link_id")

        id = d.pop("id")

        def _parse_last_viewed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_viewed_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_viewed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_viewed_at = _parse_last_viewed_at(d.pop("last_viewed_at"))

        def _parse_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        name = _parse_name(d.pop("name"))

        def _parse_privacy_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        privacy_url = _parse_privacy_url(d.pop("privacy_url"))

        def _parse_referrer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        referrer = _parse_referrer(d.pop("referrer"))

        submitted_at = datetime.datetime.fromisoformat(d.pop("submitted_at"))

        def _parse_utm(data: object) -> None | PersonSubmissionUtmType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                utm_type_0 = PersonSubmissionUtmType0.from_dict(data)

                return utm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PersonSubmissionUtmType0, data)

        utm = _parse_utm(d.pop("utm"))

        def _parse_verified_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                verified_at_type_0 = datetime.datetime.fromisoformat(data)

                return verified_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        verified_at = _parse_verified_at(d.pop("verified_at"))

        view_count = d.pop("view_count")

        person_submission = cls(
            consent_text=consent_text,
            consented_at=consented_at,
            email=email,
            first_viewed_at=first_viewed_at,
            generic_link_id=generic_link_id,
            id=id,
            last_viewed_at=last_viewed_at,
            name=name,
            privacy_url=privacy_url,
            referrer=referrer,
            submitted_at=submitted_at,
            utm=utm,
            verified_at=verified_at,
            view_count=view_count,
        )

        return person_submission
