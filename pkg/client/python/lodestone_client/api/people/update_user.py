from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.changed_user import ChangedUser
from ...models.user import User
from ...types import Response


def _request(
    id: str,
    *,
    body: ChangedUser,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/users/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> User:
    response_200 = User.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: ChangedUser,
) -> Response[User]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            body=body,
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
    body: ChangedUser,
) -> User:
    """Change the role of a person

    It takes effect within a second. The last owner stays one. The key needs every scope of the role:
    all of them for an owner; read, write, leads and webhooks for an editor; read and leads for an
    analyst.

    Args:
        id (str): Id of the person.
        body (ChangedUser):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
            )
        )
    )
