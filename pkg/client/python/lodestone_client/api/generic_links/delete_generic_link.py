from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ...client import Client
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/generic-links/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def sync_detailed(
    id: str,
    *,
    client: Client,
    if_match: str | Unset = UNSET,
) -> Response[None]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
    if_match: str | Unset = UNSET,
) -> None:
    """Delete a generic link and its submissions

    Access links that were created through it stay.

    Args:
        id (str): Id of the generic link.
        if_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    client.send(
        _request(
            id=id,
            if_match=if_match,
        )
    )
