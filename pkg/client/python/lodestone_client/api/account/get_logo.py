from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.logo import Logo
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/account/logo",
    }
    return _kwargs


def _parse(response: httpx.Response) -> Logo:
    response_200 = Logo.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
) -> Response[Logo]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(_request())
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse(response),
    )


def sync(
    *,
    client: Client,
) -> Logo:
    """Get the account's logo

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(client.send(_request()))
