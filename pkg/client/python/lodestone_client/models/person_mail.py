from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.person_mail_lead import PersonMailLead
    from ..models.person_reading import PersonReading


T = TypeVar("T", bound="PersonMail")


@_attrs_define
class PersonMail:
    """
    Attributes:
        created_at (datetime.datetime):
        kind (str): document, confirm, lead, digest, notices, webhook, sign-in or invitation.
        leads (list[PersonMailLead]): What a notice says about the person as a lead.
        readings (list[PersonReading]): What a notice says about the person as a reader.
        state (str): available, scheduled, running, retryable, completed, cancelled or discarded.
        title (None | str): Title of the document.
        to (str): Receiver. Notices about leads go to the owner of the account.
    """

    created_at: datetime.datetime
    kind: str
    leads: list[PersonMailLead]
    readings: list[PersonReading]
    state: str
    title: None | str
    to: str

    def to_dict(self) -> dict[str, Any]:
        created_at = self.created_at.isoformat()

        kind = self.kind

        leads = []
        for leads_item_data in self.leads:
            leads_item = leads_item_data.to_dict()
            leads.append(leads_item)

        readings = []
        for readings_item_data in self.readings:
            readings_item = readings_item_data.to_dict()
            readings.append(readings_item)

        state = self.state

        title: None | str
        title = self.title

        to = self.to

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created_at": created_at,
                "kind": kind,
                "leads": leads,
                "readings": readings,
                "state": state,
                "title": title,
                "to": to,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person_mail_lead import PersonMailLead  # noqa: PLC0415
        from ..models.person_reading import PersonReading  # noqa: PLC0415

        d = dict(src_dict)
        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        kind = d.pop("kind")

        leads = []
        _leads = d.pop("leads")
        for leads_item_data in _leads:
            leads_item = PersonMailLead.from_dict(leads_item_data)

            leads.append(leads_item)

        readings = []
        _readings = d.pop("readings")
        for readings_item_data in _readings:
            readings_item = PersonReading.from_dict(readings_item_data)

            readings.append(readings_item)

        state = d.pop("state")

        def _parse_title(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        title = _parse_title(d.pop("title"))

        to = d.pop("to")

        person_mail = cls(
            created_at=created_at,
            kind=kind,
            leads=leads,
            readings=readings,
            state=state,
            title=title,
            to=to,
        )

        return person_mail
