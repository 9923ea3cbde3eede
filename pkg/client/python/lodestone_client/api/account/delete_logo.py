from http import HTTPStatus
from typing import Any

from ...client import Client
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/api/v1/account/logo",
    }
    return _kwargs


def sync_detailed(
    *,
    client: Client,
) -> Response[None]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(_request())
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=None,
    )


def sync(
    *,
    client: Client,
) -> None:
    """Remove the account's logo

    Raises:
        LodestoneError: The API reports a problem.
    """

    client.send(_request())
