from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.create_share_body import CreateShareBody
from ...models.new_share import NewShare
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/lead-magnets/{id}/shares".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> NewShare:
    response_201 = NewShare.from_dict(response.json())

    return response_201


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> Response[NewShare]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
    id: str,
    *,
    client: Client,
    body: CreateShareBody,
    idempotency_key: str | Unset = UNSET,
) -> NewShare:
    """Create a link that shows the statistics of a lead magnet

    Whoever has the link sees the funnel, how far readers come, and readers by day; nothing about single
    people. The URL is shown only once: the token in it is stored as a hash.

    Args:
        id (str): Id of the lead magnet.
        idempotency_key (str | Unset):
        body (CreateShareBody):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
                idempotency_key=idempotency_key,
            )
        )
    )
