from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ...client import Client
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    cascade: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    params["cascade"] = cascade

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/lead-magnets/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def sync_detailed(
    id: str,
    *,
    client: Client,
    cascade: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[None]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            cascade=cascade,
            if_match=if_match,
        )
    )
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=None,
    )


def sync(
    id: str,
    *,
    client: Client,
    cascade: bool | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> None:
    """Delete a lead magnet and its file

    For a lead magnet with links the answer is 409, unless cascade=true is given, which also deletes its
    generic links, their submissions and its access links. Recorded events stay.

    Args:
        id (str): Id of the lead magnet.
        cascade (bool | Unset): Whether to also delete its links and their submissions.
        if_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    client.send(
        _request(
            id=id,
            cascade=cascade,
            if_match=if_match,
        )
    )
