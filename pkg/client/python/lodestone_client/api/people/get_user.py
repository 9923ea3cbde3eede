from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.user import User
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/users/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> User:
    response_200 = User.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[User]:
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
) -> User:
    """Get one of the account's people

    Args:
        id (str): Id of the person.

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
