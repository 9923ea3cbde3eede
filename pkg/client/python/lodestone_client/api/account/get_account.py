from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.account import Account
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/account",
    }
    return _kwargs


def _parse(response: httpx.Response) -> Account:
    response_200 = Account.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
) -> Response[Account]:
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
) -> Account:
    """Get the account that the key belongs to

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(client.send(_request()))
