"""Tests against an installation that the program running them has started: TestClients in cmd/lodestone."""

import io
import json
import os
import time
import unittest
import urllib.request
from pathlib import Path

import httpx

from lodestone_client import Client, LodestoneError, each
from lodestone_client.api.access_links import create_access_link
from lodestone_client.api.analytics import get_funnel, list_analytics_events, query_analytics
from lodestone_client.api.generic_links import create_generic_link, get_generic_link_qr
from lodestone_client.api.lead_magnets import (
    create_lead_magnet,
    delete_lead_magnet,
    get_lead_magnet,
    list_lead_magnets,
    update_lead_magnet,
    upload_lead_magnet_file,
)
from lodestone_client.models.changed_lead_magnet import ChangedLeadMagnet
from lodestone_client.models.event import Event
from lodestone_client.models.new_access_link import NewAccessLink
from lodestone_client.models.new_generic_link import NewGenericLink
from lodestone_client.models.new_lead_magnet import NewLeadMagnet
from lodestone_client.models.questions import Questions
from lodestone_client.models.upload_lead_magnet_file_body import UploadLeadMagnetFileBody
from lodestone_client.types import File

URL, KEY = os.environ["LODESTONE_URL"], os.environ["LODESTONE_API_KEY"]
PROXY = os.environ["PROXY_URL"]
GUIDE = Path(os.environ["GUIDE"])


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(URL, KEY)
        self.addCleanup(self.client.close)

    def through(self, path: str) -> tuple[Client, list[float]]:
        """A client of the proxy, and how long it waited before it repeated a request."""
        waits: list[float] = []
        client = Client(PROXY + path, KEY, sleep=waits.append)
        self.addCleanup(client.close)
        return client, waits

    def titled(self, title: str) -> int:
        magnets = each(list_lead_magnets.sync, client=self.client, per_page=2)
        return sum(magnet.title == title for magnet in magnets)

    def test_publishes_a_document_and_reads_its_events(self) -> None:
        magnet = create_lead_magnet.sync(client=self.client, body=NewLeadMagnet(title="Python guide"))
        with GUIDE.open("rb") as file:
            body = UploadLeadMagnetFileBody(file=File(file, "guide.pdf", "application/pdf"))
            uploaded = upload_lead_magnet_file.sync(magnet.id, client=self.client, body=body)
        self.assertEqual((uploaded.file_name, uploaded.page_count), ("guide.pdf", 12))

        link = create_generic_link.sync(client=self.client, body=NewGenericLink(lead_magnet_id=magnet.id))
        picture = get_generic_link_qr.sync(link.id, client=self.client, format_="png")
        self.assertTrue(picture.payload.read().startswith(b"\x89PNG"))

        access = create_access_link.sync(
            client=self.client, body=NewAccessLink(lead_magnet_id=magnet.id, email="ada@example.com")
        )
        for page in range(1, 6):
            event = {
                "token": access.tracking_token,
                "event_type": "page_viewed",
                "event_data": {"page": page, "duration_ms": 1000},
            }
            sent = urllib.request.Request(
                os.environ["LODESTONE_COLLECTOR_URL"] + "/v1/events",
                json.dumps(event).encode(),
                {"Content-Type": "application/json"},
            )
            urllib.request.urlopen(sent).close()

        def events() -> list[Event]:
            return list(each(list_analytics_events.sync, client=self.client, access_link_id=access.id, per_page=2))

        while len(found := events()) < 5:  # the test of Go ends what takes too long
            time.sleep(0.1)
        self.assertEqual(sorted(e.event_data["page"] for e in found), [1, 2, 3, 4, 5])

        funnel = get_funnel.sync(client=self.client, lead_magnet_id=magnet.id)
        self.assertEqual(funnel.data[0].step, "link_view")
        answers = query_analytics.sync(client=self.client, body=Questions(metrics=["page_views"]))
        self.assertGreaterEqual(answers.data[0].totals["page_views"], 5)

    def test_change_and_delete(self) -> None:
        created = create_lead_magnet.sync(client=self.client, body=NewLeadMagnet(title="Python change", author="Ada"))
        read = get_lead_magnet.sync_detailed(created.id, client=self.client)
        changed = update_lead_magnet.sync(
            created.id, client=self.client, body=ChangedLeadMagnet(author=None), if_match=read.headers["ETag"]
        )
        self.assertEqual((changed.title, changed.author), ("Python change", None))
        with self.assertRaises(LodestoneError) as raised:
            update_lead_magnet.sync(
                created.id, client=self.client, body=ChangedLeadMagnet(title="x"), if_match=read.headers["ETag"]
            )
        self.assertEqual((raised.exception.status, raised.exception.code), (412, "conflict"))
        delete_lead_magnet.sync(created.id, client=self.client)
        with self.assertRaises(LodestoneError) as raised:
            get_lead_magnet.sync(created.id, client=self.client)
        self.assertEqual(raised.exception.code, "not_found")

    def test_problem_names_its_field(self) -> None:
        with self.assertRaises(LodestoneError) as raised:
            create_lead_magnet.sync(client=self.client, body=NewLeadMagnet(title=""))
        problem = raised.exception
        self.assertEqual((problem.status, problem.code, problem.field), (422, "validation_error", "title"))
        self.assertIn("title", problem.detail)
        self.assertTrue(problem.request_id)

    def test_answer_of_another_server_is_a_problem(self) -> None:
        client, _ = self.through("/foreign")
        with self.assertRaises(LodestoneError) as raised:
            list_lead_magnets.sync(client=client)
        self.assertEqual((raised.exception.status, raised.exception.code), (502, None))

    def test_creation_whose_answer_is_lost_happens_once(self) -> None:
        client, waits = self.through("/lost")
        created = create_lead_magnet.sync(client=client, body=NewLeadMagnet(title="Python lost"))
        self.assertEqual(len(waits), 1)
        self.assertEqual(get_lead_magnet.sync(created.id, client=self.client).title, "Python lost")
        self.assertEqual(self.titled("Python lost"), 1)

    def test_retry_after_is_obeyed(self) -> None:
        client, waits = self.through("/busy")
        create_lead_magnet.sync(client=client, body=NewLeadMagnet(title="Python busy"))
        self.assertEqual(waits, [7])
        self.assertEqual(self.titled("Python busy"), 1)

    def test_upload_that_is_refused_with_429_is_sent_again(self) -> None:
        magnet = create_lead_magnet.sync(client=self.client, body=NewLeadMagnet(title="Python upload"))
        client, waits = self.through("/busy")
        body = UploadLeadMagnetFileBody(file=File(io.BytesIO(GUIDE.read_bytes()), "guide.pdf", "application/pdf"))
        self.assertEqual(upload_lead_magnet_file.sync(magnet.id, client=client, body=body).page_count, 12)
        self.assertEqual(waits, [7])

    def test_change_whose_answer_is_lost_is_not_repeated(self) -> None:
        magnet = create_lead_magnet.sync(client=self.client, body=NewLeadMagnet(title="Python once"))
        client, waits = self.through("/lost")
        with self.assertRaises(httpx.TransportError):
            update_lead_magnet.sync(magnet.id, client=client, body=ChangedLeadMagnet(title="Python twice"))
        self.assertEqual(waits, [])

    def test_wait_that_is_too_long_is_a_problem(self) -> None:
        client = Client(PROXY + "/busy", KEY, max_wait=5)
        self.addCleanup(client.close)
        with self.assertRaises(LodestoneError) as raised:
            create_lead_magnet.sync(client=client, body=NewLeadMagnet(title="Python impatient"))
        self.assertEqual(raised.exception.code, "rate_limited")


def typed(client: Client) -> None:
    """Checked by mypy alone. It reports a line that has no error of this kind."""
    NewLeadMagnet(title=5)  # type: ignore[arg-type]  # a field of another type
    NewLeadMagnet()  # type: ignore[call-arg]  # a required field
    list_analytics_events.sync(client=client, event_type="page_seen")  # type: ignore[arg-type]  # an unknown value
    get_lead_magnet.sync(client=client)  # type: ignore[call-arg]  # a required parameter
    print(get_lead_magnet.sync("x", client=client).name)  # type: ignore[attr-defined]  # a field that no answer has
    for magnet in each(list_lead_magnets.sync, client=client):
        print(magnet.event_type)  # type: ignore[attr-defined]  # a field of the elements of another list
    each(list_lead_magnets.sync, client=client, event_type="x")  # type: ignore[call-arg]  # an unknown parameter


if __name__ == "__main__":
    unittest.main()
