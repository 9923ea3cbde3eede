from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.reader_story import ReaderStory
from ...types import UNSET, Response, Unset


def _request(
    access_link_id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/readers/{access_link_id}".format(
            access_link_id=quote(str(access_link_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> ReaderStory:
    response_200 = ReaderStory.from_dict(response.json())

    return response_200


def sync_detailed(
    access_link_id: str,
    *,
    client: Client,
    if_none_match: str | Unset = UNSET,
) -> Response[ReaderStory]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            access_link_id=access_link_id,
            if_none_match=if_none_match,
        )
    )
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse(response),
    )


def sync(
    access_link_id: str,
    *,
    client: Client,
    if_none_match: str | Unset = UNSET,
) -> ReaderStory:
    """Get the story of a reader

    All that is known of the person behind an access link: totals and score, access links, submissions
    with consent, and each session with its page visits and downloads. Of an access link that was
    deleted, its events are the story. Bots are excluded; excluded_bots counts their events.

    Args:
        access_link_id (str): Id of an access link of the person.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                access_link_id=access_link_id,
                if_none_match=if_none_match,
            )
        )
    )
