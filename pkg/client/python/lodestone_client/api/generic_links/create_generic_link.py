from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.generic_link import GenericLink
from ...models.new_generic_link import NewGenericLink
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewGenericLink,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/generic-links",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> GenericLink:
    response_201 = GenericLink.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewGenericLink,
    idempotency_key: str | Unset = UNSET,
) -> Response[GenericLink]:
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
    body: NewGenericLink,
    idempotency_key: str | Unset = UNSET,
) -> GenericLink:
    """Create a generic link

    The link is active immediately. The lead magnet must be active.

    Args:
        idempotency_key (str | Unset):
        body (NewGenericLink):

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
