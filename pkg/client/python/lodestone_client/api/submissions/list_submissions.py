import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.cursor_page_submission import CursorPageSubmission
from ...models.list_submissions_sort import (
    ListSubmissionsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    q: str | Unset = UNSET,
    sort: ListSubmissionsSort | Unset = UNSET,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params["q"] = q

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["page"] = page

    params["per_page"] = per_page

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links/{id}/submissions".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> CursorPageSubmission:
    response_200 = CursorPageSubmission.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    q: str | Unset = UNSET,
    sort: ListSubmissionsSort | Unset = UNSET,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[CursorPageSubmission]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            since=since,
            until=until,
            q=q,
            sort=sort,
            page=page,
            per_page=per_page,
            cursor=cursor,
        )
    )
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse(response),
    )


def sync(
    id: str,
    *,
    client: Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    q: str | Unset = UNSET,
    sort: ListSubmissionsSort | Unset = UNSET,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> CursorPageSubmission:
    """List the submissions of a generic link, newest or oldest first

    Args:
        id (str): Id of the generic link.
        since (datetime.datetime | Unset): Only submissions after this time (ISO 8601).
        until (datetime.datetime | Unset): Only submissions before this time (ISO 8601).
        q (str | Unset): Only submissions whose address or name contains this text, in capital or
            small letters.
        sort (ListSubmissionsSort | Unset): The order: newest first (-submitted_at), or oldest
            first (submitted_at).
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        cursor (str | Unset): Where to continue: the next_cursor of the previous answer. Cannot be
            combined with page.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                since=since,
                until=until,
                q=q,
                sort=sort,
                page=page,
                per_page=per_page,
                cursor=cursor,
            )
        )
    )
