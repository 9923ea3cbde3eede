from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.channel import Channel
from ...models.new_channel import NewChannel
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewChannel,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/chat-channels",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Channel:
    response_201 = Channel.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewChannel,
    idempotency_key: str | Unset = UNSET,
) -> Response[Channel]:
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
    body: NewChannel,
    idempotency_key: str | Unset = UNSET,
) -> Channel:
    """Add a chat channel

    The account's notices are sent to it as well as by mail, when the account's settings say that they
    are sent.

    Args:
        idempotency_key (str | Unset):
        body (NewChannel):

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
