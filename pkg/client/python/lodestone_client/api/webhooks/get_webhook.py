from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.webhook import Webhook
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/webhooks/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Webhook:
    response_200 = Webhook.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    if_none_match: str | Unset = UNSET,
) -> Response[Webhook]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            if_none_match=if_none_match,
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
    if_none_match: str | Unset = UNSET,
) -> Webhook:
    """Get a webhook

    Args:
        id (str): Id of the webhook.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                if_none_match=if_none_match,
            )
        )
    )
