from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.new_api_key import NewAPIKey
from ...models.new_key import NewKey
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewKey,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/keys",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> NewAPIKey:
    response_201 = NewAPIKey.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewKey,
    idempotency_key: str | Unset = UNSET,
) -> Response[NewAPIKey]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            body=body,
            idempotency_key=idempotency_key,
        )
    )
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse(response),
    )


def sync(
    *,
    client: Client,
    body: NewKey,
    idempotency_key: str | Unset = UNSET,
) -> NewAPIKey:
    """Create an API key

    The new key can only have scopes of the key that creates it. It expires no later than that key, and
    is revoked with it.

    Args:
        idempotency_key (str | Unset):
        body (NewKey):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                body=body,
                idempotency_key=idempotency_key,
            )
        )
    )
