from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.person_address import PersonAddress
from ...models.person_erasure import PersonErasure
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: PersonAddress,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/people/erase",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> PersonErasure:
    response_201 = PersonErasure.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: PersonAddress,
    idempotency_key: str | Unset = UNSET,
) -> Response[PersonErasure]:
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
    body: PersonAddress,
    idempotency_key: str | Unset = UNSET,
) -> PersonErasure:
    """Erase everything that is stored about an address

    Removes the submissions, access links, sessions and mails of the address, what messages to webhooks
    say about it, and answers that are kept for repeated requests. Events stay, with their page and
    time, and lose everything else within seven days; records in Kafka go with their retention time.
    What was delivered to webhooks and chat channels is with its receiver. The answer has a receipt, and
    get-erasure has one again when the events are blank. An address about which nothing is stored is no
    error. It cannot be undone.

    Args:
        idempotency_key (str | Unset):
        body (PersonAddress):

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
