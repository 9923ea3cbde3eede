from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.reader_link import ReaderLink
    from ..models.reader_session import ReaderSession
    from ..models.reader_source import ReaderSource
    from ..models.reader_story_labels import ReaderStoryLabels
    from ..models.reader_submission import ReaderSubmission
    from ..models.reader_totals import ReaderTotals


T = TypeVar("T", bound="ReaderStory")


@_attrs_define
class ReaderStory:
    """
    Attributes:
        access_link_id (str): Access link that was asked for.
        access_links (list[ReaderLink]): Access links of the address, oldest first. Empty if the access link was
            deleted: then its events alone are the story.
        as_of (datetime.datetime): Everything stored until then is included. Newer events may be.
        email (None | str): Address, as typed for the newest of the access links; null if the access link was deleted.
        excluded_bots (int): Events of bots that were left out.
        labels (ReaderStoryLabels): Titles of the lead magnets.
        person_id (str): The person behind its address; the access link itself if it was deleted.
        sessions (list[ReaderSession]): Sessions by all access links, newest first, at most 500. Those with nothing but
            downloads are listed, but not counted in totals.
        source (ReaderSource):
        submission (None | ReaderSubmission): Submission that the access link was created for; null if there is none.
        submissions (list[ReaderSubmission]): All submissions that the access links were created for, oldest first.
        totals (ReaderTotals):
        truncated (bool): Whether there are more than 500 sessions, or more than 5,000 visits and downloads. Then older
            sessions, and visits and downloads of older sessions or at the end of a long one, are left out. Numbers count
            them.
    """

    access_link_id: str
    access_links: list[ReaderLink]
    as_of: datetime.datetime
    email: None | str
    excluded_bots: int
    labels: ReaderStoryLabels
    person_id: str
    sessions: list[ReaderSession]
    source: ReaderSource
    submission: None | ReaderSubmission
    submissions: list[ReaderSubmission]
    totals: ReaderTotals
    truncated: bool

    def to_dict(self) -> dict[str, Any]:
        from ..models.reader_submission import ReaderSubmission  # noqa: PLC0415

        access_link_id = self.access_link_id

        access_links = []
        for access_links_item_data in self.access_links:
            access_links_item = access_links_item_data.to_dict()
            access_links.append(access_links_item)

        as_of = self.as_of.isoformat()

        email: None | str
        email = self.email

        excluded_bots = self.excluded_bots

        labels = self.labels.to_dict()

        person_id = self.person_id

        sessions = []
        for sessions_item_data in self.sessions:
            sessions_item = sessions_item_data.to_dict()
            sessions.append(sessions_item)

        source = self.source.to_dict()

        submission: dict[str, Any] | None
        if isinstance(self.submission, ReaderSubmission):
            submission = self.submission.to_dict()
        else:
            submission = self.submission

        submissions = []
        for submissions_item_data in self.submissions:
            submissions_item = submissions_item_data.to_dict()
            submissions.append(submissions_item)

        totals = self.totals.to_dict()

        truncated = self.truncated

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "access_link_id": access_link_id,
                "access_links": access_links,
                "as_of": as_of,
                "email": email,
                "excluded_bots": excluded_bots,
                "labels": labels,
                "person_id": person_id,
                "sessions": sessions,
                "source": source,
                "submission": submission,
                "submissions": submissions,
                "totals": totals,
                "truncated": truncated,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.reader_link import ReaderLink  # noqa: PLC0415
        from ..models.reader_session import ReaderSession  # noqa: PLC0415
        from ..models.reader_source import ReaderSource  # noqa: PLC0415
        from ..models.reader_story_labels import ReaderStoryLabels  # noqa: PLC0415
        from ..models.reader_submission import ReaderSubmission  # noqa: PLC0415
        from ..models.reader_totals import ReaderTotals  # noqa: PLC0415

        d = dict(src_dict)
        access_link_id = d.pop("access_link_id")

        access_links = []
        _access_links = d.pop("access_links")
        for access_links_item_data in _access_links:
            access_links_item = ReaderLink.from_dict(access_links_item_data)

            access_links.append(access_links_item)

        as_of = datetime.datetime.fromisoformat(d.pop("as_of"))

        def _parse_email(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        email = _parse_email(d.pop("email"))

        excluded_bots = d.pop("excluded_bots")

        labels = ReaderStoryLabels.from_dict(d.pop("labels"))

        person_id = d.pop("person_id")

        sessions = []
        _sessions = d.pop("sessions")
        for sessions_item_data in _sessions:
            sessions_item = ReaderSession.from_dict(sessions_item_data)

            sessions.append(sessions_item)

        source = ReaderSource.from_dict(d.pop("source"))

        def _parse_submission(data: object) -> None | ReaderSubmission:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                submission_type_0 = ReaderSubmission.from_dict(data)

                return submission_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReaderSubmission, data)

        submission = _parse_submission(d.pop("submission"))

        submissions = []
        _submissions = d.pop("submissions")
        for submissions_item_data in _submissions:
            submissions_item = ReaderSubmission.from_dict(submissions_item_data)

            submissions.append(submissions_item)

        totals = ReaderTotals.from_dict(d.pop("totals"))

        truncated = d.pop("truncated")

        reader_story = cls(
            access_link_id=access_link_id,
            access_links=access_links,
            as_of=as_of,
            email=email,
            excluded_bots=excluded_bots,
            labels=labels,
            person_id=person_id,
            sessions=sessions,
            source=source,
            submission=submission,
            submissions=submissions,
            totals=totals,
            truncated=truncated,
        )

        return reader_story
