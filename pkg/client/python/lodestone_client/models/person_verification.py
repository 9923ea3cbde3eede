from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PersonVerification")


@_attrs_define
class PersonVerification:
    """
    Attributes:
        email (str): Address, as typed that time.
        expires_at (datetime.datetime):
        language (str): Language of the page and the mail.
        sent_at (datetime.datetime): When the last mail was sent.
        submission_id (str):
        used_at (datetime.datetime | None): When it confirmed the address.
    """

    email: str
    expires_at: datetime.datetime
    language: str
    sent_at: datetime.datetime
    submission_id: str
    used_at: datetime.datetime | None

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        expires_at = self.expires_at.isoformat()

        language = self.language

        sent_at = self.sent_at.isoformat()

        submission_id = self.submission_id

        used_at: None | str
        if isinstance(self.used_at, datetime.datetime):
            used_at = self.used_at.isoformat()
        else:
            used_at = self.used_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "email": email,
                "expires_at": expires_at,
                "language": language,
                "sent_at": sent_at,
                "submission_id": submission_id,
                "used_at": used_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        email = d.pop("email")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        language = d.pop("language")

        sent_at = datetime.datetime.fromisoformat(d.pop("sent_at"))

        submission_id = d.pop("submission_id")

        def _parse_used_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                used_at_type_0 = datetime.datetime.fromisoformat(data)

                return used_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        used_at = _parse_used_at(d.pop("used_at"))

        person_verification = cls(
            email=email,
            expires_at=expires_at,
            language=language,
            sent_at=sent_at,
            submission_id=submission_id,
            used_at=used_at,
        )

        return person_verification
