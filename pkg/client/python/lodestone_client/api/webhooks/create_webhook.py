from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.full_webhook import FullWebhook
from ...models.new_webhook import NewWebhook
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewWebhook,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/webhooks",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> FullWebhook:
    response_201 = FullWebhook.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewWebhook,
    idempotency_key: str | Unset = UNSET,
) -> Response[FullWebhook]:
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
    body: NewWebhook,
    idempotency_key: str | Unset = UNSET,
) -> FullWebhook:
    """Create a webhook

    The URL must be on the public internet and begin with https, unless the operator has allowed its
    network. The answer contains the secret that messages are signed with.

    Args:
        idempotency_key (str | Unset):
        body (NewWebhook):

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
