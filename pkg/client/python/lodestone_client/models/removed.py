from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Removed")


@_attrs_define
class Removed:
    """
    Attributes:
        access_links (int): Personal links. Their events are blanked.
        chat_messages (int): Messages to chat channels that waited.
        downloads (int): Downloads in these sessions.
        mails (int): Mails to the address that waited, and notices about it to the owner.
        sessions (int): Openings of these links.
        submissions (int): Forms that were sent with the address.
        webhook_deliveries (int): Messages to webhooks whose bodies and answers were removed. What was delivered is with
            its receiver.
    """

    access_links: int
    chat_messages: int
    downloads: int
    mails: int
    sessions: int
    submissions: int
    webhook_deliveries: int

    def to_dict(self) -> dict[str, Any]:
        access_links = self.access_links

        chat_messages = self.chat_messages

        downloads = self.downloads

        mails = self.mails

        sessions = self.sessions

        submissions = self.submissions

        webhook_deliveries = self.webhook_deliveries

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_links": access_links,
                "chat_messages": chat_messages,
                "downloads": downloads,
                "mails": mails,
                "sessions": sessions,
                "submissions": submissions,
                "webhook_deliveries": webhook_deliveries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        access_links = d.pop("access_links")

        chat_messages = d.pop("chat_messages")

        downloads = d.pop("downloads")

        mails = d.pop("mails")

        sessions = d.pop("sessions")

        submissions = d.pop("submissions")

        webhook_deliveries = d.pop("webhook_deliveries")

        removed = cls(
            access_links=access_links,
            chat_messages=chat_messages,
            downloads=downloads,
            mails=mails,
            sessions=sessions,
            submissions=submissions,
            webhook_deliveries=webhook_deliveries,
        )

        return removed
