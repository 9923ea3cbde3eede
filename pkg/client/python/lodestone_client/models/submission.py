from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.submission_state import SubmissionState, check_submission_state
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.submission_utm_type_0 import SubmissionUtmType0


T = TypeVar("T", bound="Submission")


@_attrs_define
class Submission:
    """
    Attributes:
        consented_at (datetime.datetime | None): When the visitor agreed to the link's consent_text; null if there was
            none.
        email (str): Email address, as typed.
        first_viewed_at (datetime.datetime | None): When the document was first viewed.
        generic_link_id (str): Generic link that it was submitted through.
        id (str): Unique identifier.
        last_viewed_at (datetime.datetime | None): When the document was last viewed.
        state (SubmissionState): State: the address must be verified first, the document can be read, or it was read.
        submitted_at (datetime.datetime): When it was created.
        utm (None | SubmissionUtmType0): Parameters of the landing page's URL, such as utm_source; null if there were
            none.
        verified (bool): Whether the address was verified.
        view_count (int): Views so far.
        viewed (bool): Whether the document was viewed.
        name (None | str | Unset): Name; only if the link collects names.
    """

    consented_at: datetime.datetime | None
    email: str
    first_viewed_at: datetime.datetime | None
    generic_link_id: str
    id: str
    last_viewed_at: datetime.datetime | None
    state: SubmissionState
    submitted_at: datetime.datetime
    utm: None | SubmissionUtmType0
    verified: bool
    view_count: int
    viewed: bool
    name: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.submission_utm_type_0 import SubmissionUtmType0  # noqa: PLC0415

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

        state: str = self.state

        submitted_at = self.submitted_at.isoformat()

        utm: dict[str, Any] | None
        if isinstance(self.utm, SubmissionUtmType0):
            utm = self.utm.to_dict()
        else:
            utm = self.utm

        verified = self.verified

        view_count = self.view_count

        viewed = self.viewed

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consented_at": consented_at,
                "email": email,
                "first_viewed_at": first_viewed_at,
                "generic_link_id": generic_link_id,
                "id": id,
                "last_viewed_at": last_viewed_at,
                "state": state,
                "submitted_at": submitted_at,
                "utm": utm,
                "verified": verified,
                "view_count": view_count,
                "viewed": viewed,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.submission_utm_type_0 import SubmissionUtmType0  # noqa: PLC0415

        d = dict(src_dict)

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

        state = check_submission_state(d.pop("state"))

        submitted_at = datetime.datetime.fromisoformat(d.pop("submitted_at"))

        def _parse_utm(data: object) -> None | SubmissionUtmType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                utm_type_0 = SubmissionUtmType0.from_dict(data)

                return utm_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SubmissionUtmType0, data)

        utm = _parse_utm(d.pop("utm"))

        verified = d.pop("verified")

        view_count = d.pop("view_count")

        viewed = d.pop("viewed")

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        submission = cls(
            consented_at=consented_at,
            email=email,
            first_viewed_at=first_viewed_at,
            generic_link_id=generic_link_id,
            id=id,
            last_viewed_at=last_viewed_at,
            state=state,
            submitted_at=submitted_at,
            utm=utm,
            verified=verified,
            view_count=view_count,
            viewed=viewed,
            name=name,
        )

        return submission
