from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.full_webhook import FullWebhook
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    keep_previous_hours: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["keep_previous_hours"] = keep_previous_hours

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/webhooks/{id}/rotate-secret".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> FullWebhook:
    response_200 = FullWebhook.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    keep_previous_hours: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[FullWebhook]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            keep_previous_hours=keep_previous_hours,
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
    keep_previous_hours: int | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> FullWebhook:
    """Create a new secret for a webhook

    Messages are signed with the new secret and, for keep_previous_hours, also with the previous ones,
    so that receivers have time to change. After a leak, set keep_previous_hours to 0.

    Args:
        id (str): Id of the webhook.
        keep_previous_hours (int | Unset): Hours during which messages are also signed with the
            previous secrets.
        idempotency_key (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                keep_previous_hours=keep_previous_hours,
                idempotency_key=idempotency_key,
            )
        )
    )
