from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.delivery import Delivery
    from ..models.entry import Entry
    from ..models.person_access_link import PersonAccessLink
    from ..models.person_answer import PersonAnswer
    from ..models.person_chat_message import PersonChatMessage
    from ..models.person_document_events_item import PersonDocumentEventsItem
    from ..models.person_download import PersonDownload
    from ..models.person_form import PersonForm
    from ..models.person_key import PersonKey
    from ..models.person_mail import PersonMail
    from ..models.person_notice import PersonNotice
    from ..models.person_report import PersonReport
    from ..models.person_session import PersonSession
    from ..models.person_submission import PersonSubmission
    from ..models.person_verification import PersonVerification


T = TypeVar("T", bound="PersonDocument")


@_attrs_define
class PersonDocument:
    """
    Attributes:
        access_links (list[PersonAccessLink]): Personal links, oldest first.
        answers (list[PersonAnswer]): Answers that are kept for a day for repeated requests, as far as they mention the
            address, a link or a submission.
        audit_log (list[Entry]): What was done to these submissions and links, and what a user with the address did.
        chat_messages (list[PersonChatMessage]): Messages to chat channels that mention the address and wait, were sent
            within the last minute, or could not be sent within the last seven days.
        downloads (list[PersonDownload]): Downloads in these sessions, oldest first.
        email (str): Address that was asked for.
        events (list[PersonDocumentEventsItem]): Events of these links and of those that were deleted, as lines of the
            export of events (GET /api/v1/analytics/export) with visitor=true.
        exported_at (datetime.datetime): When the document was created.
        forms (list[PersonForm]): Forms of the dashboard that mention the address and wait until their sender has signed
            in again.
        idempotency_keys (list[PersonKey]): Keys of repeated requests with the address in them, which are kept for a
            day.
        mails (list[PersonMail]): Mails that wait, were sent within the last minute, or could not be sent within the
            last seven days.
        notices (list[PersonNotice]): Visits through these links that the owner is to be notified of, or was: a row for
            each, oldest first.
        person_id (str): The person in reports, in SQL, and in the audit log: a keyed hash of the address.
        reports (list[PersonReport]): Downloads of these links and of those that were deleted that wait to be reported
            as events, were reported within the last minute, or could not be reported within the last seven days.
        sessions (list[PersonSession]): Openings of these links, oldest first.
        submissions (list[PersonSubmission]): Forms that were sent with the address, oldest first.
        verifications (list[PersonVerification]): Mails that asked to confirm the address. They are removed a week after
            they expire.
        webhook_deliveries (list[Delivery]): Messages to webhooks about these submissions and links.
    """

    access_links: list[PersonAccessLink]
    answers: list[PersonAnswer]
    audit_log: list[Entry]
    chat_messages: list[PersonChatMessage]
    downloads: list[PersonDownload]
    email: str
    events: list[PersonDocumentEventsItem]
    exported_at: datetime.datetime
    forms: list[PersonForm]
    idempotency_keys: list[PersonKey]
    mails: list[PersonMail]
    notices: list[PersonNotice]
    person_id: str
    reports: list[PersonReport]
    sessions: list[PersonSession]
    submissions: list[PersonSubmission]
    verifications: list[PersonVerification]
    webhook_deliveries: list[Delivery]

    def to_dict(self) -> dict[str, Any]:
        access_links = []
        for access_links_item_data in self.access_links:
            access_links_item = access_links_item_data.to_dict()
            access_links.append(access_links_item)

        answers = []
        for answers_item_data in self.answers:
            answers_item = answers_item_data.to_dict()
            answers.append(answers_item)

        audit_log = []
        for audit_log_item_data in self.audit_log:
            audit_log_item = audit_log_item_data.to_dict()
            audit_log.append(audit_log_item)

        chat_messages = []
        for chat_messages_item_data in self.chat_messages:
            chat_messages_item = chat_messages_item_data.to_dict()
            chat_messages.append(chat_messages_item)

        downloads = []
        for downloads_item_data in self.downloads:
            downloads_item = downloads_item_data.to_dict()
            downloads.append(downloads_item)

        email = self.email

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.to_dict()
            events.append(events_item)

        exported_at = self.exported_at.isoformat()

        forms = []
        for forms_item_data in self.forms:
            forms_item = forms_item_data.to_dict()
            forms.append(forms_item)

        idempotency_keys = []
        for idempotency_keys_item_data in self.idempotency_keys:
            idempotency_keys_item = idempotency_keys_item_data.to_dict()
            idempotency_keys.append(idempotency_keys_item)

        mails = []
        for mails_item_data in self.mails:
            mails_item = mails_item_data.to_dict()
            mails.append(mails_item)

        notices = []
        for notices_item_data in self.notices:
            notices_item = notices_item_data.to_dict()
            notices.append(notices_item)

        person_id = self.person_id

        reports = []
        for reports_item_data in self.reports:
            reports_item = reports_item_data.to_dict()
            reports.append(reports_item)

        sessions = []
        for sessions_item_data in self.sessions:
            sessions_item = sessions_item_data.to_dict()
            sessions.append(sessions_item)

        submissions = []
        for submissions_item_data in self.submissions:
            submissions_item = submissions_item_data.to_dict()
            submissions.append(submissions_item)

        verifications = []
        for verifications_item_data in self.verifications:
            verifications_item = verifications_item_data.to_dict()
            verifications.append(verifications_item)

        webhook_deliveries = []
        for webhook_deliveries_item_data in self.webhook_deliveries:
            webhook_deliveries_item = webhook_deliveries_item_data.to_dict()
            webhook_deliveries.append(webhook_deliveries_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_links": access_links,
                "answers": answers,
                "audit_log": audit_log,
                "chat_messages": chat_messages,
                "downloads": downloads,
                "email": email,
                "events": events,
                "exported_at": exported_at,
                "forms": forms,
                "idempotency_keys": idempotency_keys,
                "mails": mails,
                "notices": notices,
                "person_id": person_id,
                "reports": reports,
                "sessions": sessions,
                "submissions": submissions,
                "verifications": verifications,
                "webhook_deliveries": webhook_deliveries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivery import Delivery  # noqa: PLC0415
        from ..models.entry import Entry  # noqa: PLC0415
        from ..models.person_access_link import PersonAccessLink  # noqa: PLC0415
        from ..models.person_answer import PersonAnswer  # noqa: PLC0415
        from ..models.person_chat_message import PersonChatMessage  # noqa: PLC0415
        from ..models.person_document_events_item import PersonDocumentEventsItem  # noqa: PLC0415
        from ..models.person_download import PersonDownload  # noqa: PLC0415
        from ..models.person_form import PersonForm  # noqa: PLC0415
        from ..models.person_key import PersonKey  # noqa: PLC0415
        from ..models.person_mail import PersonMail  # noqa: PLC0415
        from ..models.person_notice import PersonNotice  # noqa: PLC0415
        from ..models.person_report import PersonReport  # noqa: PLC0415
        from ..models.person_session import PersonSession  # noqa: PLC0415
        from ..models.person_submission import PersonSubmission  # noqa: PLC0415
        from ..models.person_verification import PersonVerification  # noqa: PLC0415

        d = dict(src_dict)
        access_links = []
        _access_links = d.pop("access_links")
        for access_links_item_data in _access_links:
            access_links_item = PersonAccessLink.from_dict(access_links_item_data)

            access_links.append(access_links_item)

        answers = []
        _answers = d.pop("answers")
        for answers_item_data in _answers:
            answers_item = PersonAnswer.from_dict(answers_item_data)

            answers.append(answers_item)

        audit_log = []
        _audit_log = d.pop("audit_log")
        for audit_log_item_data in _audit_log:
            audit_log_item = Entry.from_dict(audit_log_item_data)

            audit_log.append(audit_log_item)

        chat_messages = []
        _chat_messages = d.pop("chat_messages")
        for chat_messages_item_data in _chat_messages:
            chat_messages_item = PersonChatMessage.from_dict(chat_messages_item_data)

            chat_messages.append(chat_messages_item)

        downloads = []
        _downloads = d.pop("downloads")
        for downloads_item_data in _downloads:
            downloads_item = PersonDownload.from_dict(downloads_item_data)

            downloads.append(downloads_item)

        email = d.pop("email")

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = PersonDocumentEventsItem.from_dict(events_item_data)

            events.append(events_item)

        exported_at = datetime.datetime.fromisoformat(d.pop("exported_at"))

        forms = []
        _forms = d.pop("forms")
        for forms_item_data in _forms:
            forms_item = PersonForm.from_dict(forms_item_data)

            forms.append(forms_item)

        idempotency_keys = []
        _idempotency_keys = d.pop("idempotency_keys")
        for idempotency_keys_item_data in _idempotency_keys:
            idempotency_keys_item = PersonKey.from_dict(idempotency_keys_item_data)

            idempotency_keys.append(idempotency_keys_item)

        mails = []
        _mails = d.pop("mails")
        for mails_item_data in _mails:
            mails_item = PersonMail.from_dict(mails_item_data)

            mails.append(mails_item)

        notices = []
        _notices = d.pop("notices")
        for notices_item_data in _notices:
            notices_item = PersonNotice.from_dict(notices_item_data)

            notices.append(notices_item)

        person_id = d.pop("person_id")

        reports = []
        _reports = d.pop("reports")
        for reports_item_data in _reports:
            reports_item = PersonReport.from_dict(reports_item_data)

            reports.append(reports_item)

        sessions = []
        _sessions = d.pop("sessions")
        for sessions_item_data in _sessions:
            sessions_item = PersonSession.from_dict(sessions_item_data)

            sessions.append(sessions_item)

        submissions = []
        _submissions = d.pop("submissions")
        for submissions_item_data in _submissions:
            submissions_item = PersonSubmission.from_dict(submissions_item_data)

            submissions.append(submissions_item)

        verifications = []
        _verifications = d.pop("verifications")
        for verifications_item_data in _verifications:
            verifications_item = PersonVerification.from_dict(verifications_item_data)

            verifications.append(verifications_item)

        webhook_deliveries = []
        _webhook_deliveries = d.pop("webhook_deliveries")
        for webhook_deliveries_item_data in _webhook_deliveries:
            webhook_deliveries_item = Delivery.from_dict(webhook_deliveries_item_data)

            webhook_deliveries.append(webhook_deliveries_item)

        person_document = cls(
            access_links=access_links,
            answers=answers,
            audit_log=audit_log,
            chat_messages=chat_messages,
            downloads=downloads,
            email=email,
            events=events,
            exported_at=exported_at,
            forms=forms,
            idempotency_keys=idempotency_keys,
            mails=mails,
            notices=notices,
            person_id=person_id,
            reports=reports,
            sessions=sessions,
            submissions=submissions,
            verifications=verifications,
            webhook_deliveries=webhook_deliveries,
        )

        return person_document
