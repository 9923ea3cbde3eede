from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.access_link import AccessLink
from ...models.new_access_link import NewAccessLink
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewAccessLink,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/access-links",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> AccessLink:
    response_201 = AccessLink.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewAccessLink,
    idempotency_key: str | Unset = UNSET,
) -> Response[AccessLink]:
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
    body: NewAccessLink,
    idempotency_key: str | Unset = UNSET,
) -> AccessLink:
    """Create an access link

    The link is active immediately. The lead magnet must be active.

    Args:
        idempotency_key (str | Unset):
        body (NewAccessLink):

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
