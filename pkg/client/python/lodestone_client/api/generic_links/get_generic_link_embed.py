from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.state import State
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links/{id}/embed".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> State:
    response_200 = State.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[State]:
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
) -> State:
    """Get the HTML that shows the form on your own page, and whether it works

    Paste the value of script into a page whose origin is among allowed_origins. last_seen_at then tells
    when the page last loaded the form; last_refused_origin names a page whose origin is missing.

    Args:
        id (str): Id of the generic link.

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
