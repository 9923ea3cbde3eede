from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ...client import Client
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/sessions/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[None]:
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
        parsed=None,
    )


def sync(
    id: str,
    *,
    client: Client,
) -> None:
    """End a session of the dashboard

    A person has their own sessions in the account, an API key those that it signed in. With the scope
    people, everyone's are there. Within a second every process refuses the session.

    Args:
        id (str): Id of the session.

    Raises:
        LodestoneError: The API reports a problem.
    """

    client.send(
        _request(
            id=id,
        )
    )
