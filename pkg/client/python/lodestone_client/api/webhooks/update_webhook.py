from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.changed_webhook import ChangedWebhook
from ...models.webhook import Webhook
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: ChangedWebhook,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/webhooks/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Webhook:
    response_200 = Webhook.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: ChangedWebhook,
    if_match: str | Unset = UNSET,
) -> Response[Webhook]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            body=body,
            if_match=if_match,
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
    body: ChangedWebhook,
    if_match: str | Unset = UNSET,
) -> Webhook:
    """Change a webhook

    Omitted fields keep their values; null clears description. While the webhook is not active, no
    messages are sent to it or stored for it. Pending messages are given up; they can be replayed later.

    Args:
        id (str): Id of the webhook.
        if_match (str | Unset):
        body (ChangedWebhook):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
                if_match=if_match,
            )
        )
    )
