from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.reader_submission_state import (
    ReaderSubmissionState,
    check_reader_submission_state,
)

if TYPE_CHECKING:
    from ..models.reader_submission_utm_type_0 import ReaderSubmissionUtmType0


T = TypeVar("T", bound="ReaderSubmission")


@_attrs_define
class ReaderSubmission:
    """
    Attributes:
        consent_text (None | str): What the visitor agreed to, as it was shown.
        consented_at (datetime.datetime | None): When the visitor agreed to consent_text; null if there was none.
        email (str): Email address, as typed.
        generic_link_id (str):
        id (str):
        lead_magnet_id (str):
        name (None | str): Name; null if none was given, or the generic link does not collect names.
        privacy_url (None | str): Privacy policy that was linked.
        referrer (None | str): Page before the landing page, without its query.
        state (ReaderSubmissionState): State: the address must be verified first, the document can be read, or it was
            read.
        submitted_at (datetime.datetime):
        utm (None | ReaderSubmissionUtmType0): Parameters of the landing page's URL, such as utm_source; null if there
            were none.
        verified (bool): Whether the address was verified.
        verified_at (datetime.datetime | None):
    """

    consent_text: None | str
    consented_at: datetime.datetime | None
    email: str
    generic_link_id: str
    id: str
    lead_magnet_id: str
    name: None | str
    privacy_url: None | str
    referrer: None | str
    state: ReaderSubmissionState
    submitted_at: datetime.datetime
    utm: None | ReaderSubmissionUtmType0
    verified: bool
    verified_at: datetime.datetime | None

    def to_dict(self) -> dict[str, Any]:
        from ..models.reader_submission_utm_type_0 import ReaderSubmissionUtmType0  # noqa: PLC0415

        consent_text: None | str
        consent_text = self.consent_text

        consented_at: None | str
        if isinstance(self.consented_at, datetime.datetime):
            consented_at = self.consented_at.isoformat()
        else:
            consented_at = self.consented_at

        email = self.email

        generic_link_id = self.generic_link_id

        id = self.id

        lead_magnet_id = self.lead_magnet_id

        name: None | str
        name = self.name

        privacy_url: None | str
        privacy_url = self.privacy_url

        referrer: None | str
        referrer = self.referrer

        state: str = self.state

        submitted_at = self.submitted_at.isoformat()

        utm: dict[str, Any] | None
        if isinstance(self.utm, ReaderSubmissionUtmType0):
            utm = self.utm.to_dict()
        else:
            utm = self.utm

        verified = self.verified

        verified_at: None | str
        if isinstance(self.verified_at, datetime.datetime):
            verified_at = self.verified_at.isoformat()
        else:
            verified_at = self.verified_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consent_text": consent_text,
                "consented_at": consented_at,
                "email": email,
                "generic_link_id": generic_link_id,
                "id": id,
                "lead_magnet_id": lead_magnet_id,
                "name": name,
                "privacy_url": privacy_url,
                "referrer": referrer,
                "state": state,
                "submitted_at": submitted_at,
                "utm": utm,
                "verified": verified,
                "verified_at": verified_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.reader_submission_utm_type_0 import ReaderSubmissionUtmType0  # noqa: PLC0415

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

        generic_link_id = d.pop("generic_link_id")

        id = d.pop("id")

        lead_magnet_id = d.pop("lead_magnet_id")

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

        state = check_reader_submission_state(d.pop("state"))

        submitted_at = datetime.datetime.fromisoformat(d.pop("submitted_at"))

        def _parse_utm(data: object) -> None | ReaderSubmissionUtmType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                utm_type_0 = ReaderSubmissionUtmType0.from_dict(data)

                return utm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReaderSubmissionUtmType0, data)

        utm = _parse_utm(d.pop("utm"))

        verified = d.pop("verified")

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

        reader_submission = cls(
            consent_text=consent_text,
            consented_at=consented_at,
            email=email,
            generic_link_id=generic_link_id,
            id=id,
            lead_magnet_id=lead_magnet_id,
            name=name,
            privacy_url=privacy_url,
            referrer=referrer,
            state=state,
            submitted_at=submitted_at,
            utm=utm,
            verified=verified,
            verified_at=verified_at,
        )

        return reader_submission
