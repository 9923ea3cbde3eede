from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.cursor_page_delivery import CursorPageDelivery
from ...models.list_webhook_deliveries_state import (
    ListWebhookDeliveriesState,
)
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["cursor"] = cursor

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/webhooks/{id}/deliveries".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> CursorPageDelivery:
    response_200 = CursorPageDelivery.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
) -> Response[CursorPageDelivery]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            page=page,
            per_page=per_page,
            cursor=cursor,
            state=state,
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
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    state: ListWebhookDeliveriesState | Unset = UNSET,
) -> CursorPageDelivery:
    """List the messages to a webhook, newest first

    Args:
        id (str): Id of the webhook.
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        cursor (str | Unset): Where to continue: the next_cursor of the previous answer. Cannot be
            combined with page.
        state (ListWebhookDeliveriesState | Unset): Only messages in this state.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                page=page,
                per_page=per_page,
                cursor=cursor,
                state=state,
            )
        )
    )
