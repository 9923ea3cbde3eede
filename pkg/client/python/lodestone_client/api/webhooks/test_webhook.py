from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.delivery import Delivery
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/webhooks/{id}/test".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Delivery:
    response_200 = Delivery.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    idempotency_key: str | Unset = UNSET,
) -> Response[Delivery]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
    id: str,
    *,
    client: Client,
    idempotency_key: str | Unset = UNSET,
) -> Delivery:
    """Send a test message to a webhook

    The message has the type webhook.test. It is sent immediately, even if the webhook is not active,
    and is not retried. The answer contains the result.

    Args:
        id (str): Id of the webhook.
        idempotency_key (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                idempotency_key=idempotency_key,
            )
        )
    )
