from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.tracking import Tracking
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links/{id}/tracking".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> Tracking:
    response_200 = Tracking.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[Tracking]:
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
) -> Tracking:
    """Get the HTML that counts views of your own page as a link's

    Paste the value of script into your own landing page. Its views then count in the link's view_count.

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
