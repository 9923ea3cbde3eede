from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.delivery import Delivery
from ...types import Response


def _request(
    id: str,
    delivery_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/webhooks/{id}/deliveries/{delivery_id}".format(
            id=quote(str(id), safe=""),
            delivery_id=quote(str(delivery_id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> Delivery:
    response_200 = Delivery.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    delivery_id: str,
    *,
    client: Client,
) -> Response[Delivery]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            delivery_id=delivery_id,
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
) -> Delivery:
    """Get one message to a webhook

    Args:
        id (str): Id of the webhook.
        delivery_id (str): Id of the message in the log.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                delivery_id=delivery_id,
            )
        )
    )
