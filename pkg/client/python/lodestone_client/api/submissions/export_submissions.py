import datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.export_submissions_format import (
    ExportSubmissionsFormat,
)
from ...types import UNSET, File, Response, Unset


def _request(
    id: str,
    *,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    q: str | Unset = UNSET,
    format_: ExportSubmissionsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
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

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params["bom"] = bom

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links/{id}/submissions/export".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    q: str | Unset = UNSET,
    format_: ExportSubmissionsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            since=since,
            until=until,
            q=q,
            format_=format_,
            bom=bom,
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
    format_: ExportSubmissionsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
) -> File:
    """Export the submissions of a generic link

    All submissions of the period as a file, newest first, from one state of the data. If an error
    occurs after the file has begun, the connection is broken, so that a part of a file does not look
    complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe
    before it, so that no spreadsheet takes it for a formula.

    Args:
        id (str): Id of the generic link.
        since (datetime.datetime | Unset): Only submissions after this time (ISO 8601).
        until (datetime.datetime | Unset): Only submissions before this time (ISO 8601).
        q (str | Unset): Only submissions whose address or name contains this text, in capital or
            small letters.
        format_ (ExportSubmissionsFormat | Unset): Format of the file.
        bom (bool | Unset): Whether a CSV file begins with a byte order mark, without which Excel
            shows letters that are not ASCII wrong.

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
                format_=format_,
                bom=bom,
            )
        )
    )
