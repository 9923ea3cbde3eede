from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.invitation import Invitation
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/invitations/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> Invitation:
    response_200 = Invitation.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[Invitation]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
) -> Invitation:
    """Get an invitation

    Args:
        id (str): Id of the invitation.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
            )
        )
    )
