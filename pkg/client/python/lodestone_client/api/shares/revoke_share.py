from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ...client import Client
from ...types import Response


def _request(
    id: str,
    share_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/lead-magnets/{id}/shares/{share_id}".format(
            id=quote(str(id), safe=""),
            share_id=quote(str(share_id), safe=""),
        ),
    }
    return _kwargs


def sync_detailed(
    id: str,
    share_id: str,
    *,
    client: Client,
) -> Response[None]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            share_id=share_id,
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
    share_id: str,
    *,
    client: Client,
) -> None:
    """Revoke a link that shows statistics

    Its page is gone at once.

    Args:
        id (str): Id of the lead magnet.
        share_id (str): Id of the link.

    Raises:
        LodestoneError: The API reports a problem.
    """

    client.send(
        _request(
            id=id,
            share_id=share_id,
        )
    )
