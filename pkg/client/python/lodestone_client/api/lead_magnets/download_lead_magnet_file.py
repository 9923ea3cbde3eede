from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...types import UNSET, File, Response, Unset


def _request(
    id: str,
    *,
    range_: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(range_, Unset):
        headers["Range"] = range_

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/lead-magnets/{id}/file".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    range_: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            range_=range_,
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
    id: str,
    *,
    client: Client,
    range_: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> File:
    """Download the file of a lead magnet

    Args:
        id (str): Id of the lead magnet.
        range_ (str | Unset):
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                range_=range_,
                if_none_match=if_none_match,
            )
        )
    )
