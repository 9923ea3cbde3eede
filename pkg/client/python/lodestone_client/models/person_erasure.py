from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.removed import Removed


T = TypeVar("T", bound="PersonErasure")


@_attrs_define
class PersonErasure:
    """
    Attributes:
        account_id (str): Account that stored the data.
        backups_until (datetime.datetime | None): When the last backup that holds the person is deleted, as the
            installation states it (--backup-days): so many days after the events were blanked, since a backup until then
            has them; null: not known until the events are blanked, or it states nothing.
        erased_at (datetime.datetime): What was stored until then is erased.
        events_blanked (bool): Whether the events and the copies for SQL hold nothing of the person any more.
        events_blanked_at (datetime.datetime | None): When that was so; null: not yet.
        events_due_at (datetime.datetime): When it is so at the latest.
        id (str): Unique identifier.
        person_id (str): The person in reports and in SQL: a keyed hash of the address, which is not kept.
        receipt (str): The fields above, as a JSON Web Signature.
        records_until (datetime.datetime | None): When Kafka and the spools of collectors have dropped the records of
            these events and their dead letters; null: not known until the events are blanked, or if one of them keeps
            records forever.
        removed (Removed):
    """

    account_id: str
    backups_until: datetime.datetime | None
    erased_at: datetime.datetime
    events_blanked: bool
    events_blanked_at: datetime.datetime | None
    events_due_at: datetime.datetime
    id: str
    person_id: str
    receipt: str
    records_until: datetime.datetime | None
    removed: Removed

    def to_dict(self) -> dict[str, Any]:
        account_id = self.account_id

        backups_until: None | str
        if isinstance(self.backups_until, datetime.datetime):
            backups_until = self.backups_until.isoformat()
        else:
            backups_until = self.backups_until

        erased_at = self.erased_at.isoformat()

        events_blanked = self.events_blanked

        events_blanked_at: None | str
        if isinstance(self.events_blanked_at, datetime.datetime):
            events_blanked_at = self.events_blanked_at.isoformat()
        else:
            events_blanked_at = self.events_blanked_at

        events_due_at = self.events_due_at.isoformat()

        id = self.id

        person_id = self.person_id

        receipt = self.receipt

        records_until: None | str
        if isinstance(self.records_until, datetime.datetime):
            records_until = self.records_until.isoformat()
        else:
            records_until = self.records_until

        removed = self.removed.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "account_id": account_id,
                "backups_until": backups_until,
                "erased_at": erased_at,
                "events_blanked": events_blanked,
                "events_blanked_at": events_blanked_at,
                "events_due_at": events_due_at,
                "id": id,
                "person_id": person_id,
                "receipt": receipt,
                "records_until": records_until,
                "removed": removed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.removed import Removed  # noqa: PLC0415

        d = dict(src_dict)
        account_id = d.pop("account_id")

        def _parse_backups_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                backups_until_type_0 = datetime.datetime.fromisoformat(data)

                return backups_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        backups_until = _parse_backups_until(d.pop("backups_until"))

        erased_at = datetime.datetime.fromisoformat(d.pop("erased_at"))

        events_blanked = d.pop("events_blanked")

        def _parse_events_blanked_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                events_blanked_at_type_0 = datetime.datetime.fromisoformat(data)

                return events_blanked_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        events_blanked_at = _parse_events_blanked_at(d.pop("events_blanked_at"))

        events_due_at = datetime.datetime.fromisoformat(d.pop("events_due_at"))

        id = d.pop("id")

        person_id = d.pop("person_id")

        receipt = d.pop("receipt")

        def _parse_records_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                records_until_type_0 = datetime.datetime.fromisoformat(data)

                return records_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        records_until = _parse_records_until(d.pop("records_until"))

        removed = Removed.from_dict(d.pop("removed"))

        person_erasure = cls(
            account_id=account_id,
            backups_until=backups_until,
            erased_at=erased_at,
            events_blanked=events_blanked,
            events_blanked_at=events_blanked_at,
            events_due_at=events_due_at,
            id=id,
            person_id=person_id,
            receipt=receipt,
            records_until=records_until,
            removed=removed,
        )

        return person_erasure
