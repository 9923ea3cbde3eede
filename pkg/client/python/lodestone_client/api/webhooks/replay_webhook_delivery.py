from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.delivery import Delivery
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    delivery_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/webhooks/{id}/deliveries/{delivery_id}/replay".format(
            id=quote(str(id), safe=""),
            delivery_id=quote(str(delivery_id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Delivery:
    response_202 = Delivery.from_dict(response.json())

    return response_202


def sync_detailed(
    id: str,
    delivery_id: str,
    *,
    client: Client,
    idempotency_key: str | Unset = UNSET,
) -> Response[Delivery]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            delivery_id=delivery_id,
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
    delivery_id: str,
    *,
    client: Client,
    idempotency_key: str | Unset = UNSET,
) -> Delivery:
    """Send a message again

    Sends the same message with the same webhook-id, whatever its state. It is retried as often as a new
    message.

    Args:
        id (str): Id of the webhook.
        delivery_id (str): Id of the message in the log.
        idempotency_key (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                delivery_id=delivery_id,
                idempotency_key=idempotency_key,
            )
        )
    )
