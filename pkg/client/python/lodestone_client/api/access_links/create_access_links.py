from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.batch import Batch
from ...models.new_access_links import NewAccessLinks
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: NewAccessLinks,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/lead-magnets/{id}/bulk-links".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Batch:
    response_201 = Batch.from_dict(response.json())

    return response_201


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: NewAccessLinks,
    idempotency_key: str | Unset = UNSET,
) -> Response[Batch]:
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
    body: NewAccessLinks,
    idempotency_key: str | Unset = UNSET,
) -> Batch:
    """Create access links for many addresses

    Creates one link for each address, in the same order. If one link cannot be created, none is.

    Args:
        id (str): Id of the lead magnet that the links open.
        idempotency_key (str | Unset):
        body (NewAccessLinks):

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
