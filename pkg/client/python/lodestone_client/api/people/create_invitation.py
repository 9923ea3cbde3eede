from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.invitation import Invitation
from ...models.new_invitation import NewInvitation
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewInvitation,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/invitations",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Invitation:
    response_201 = Invitation.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewInvitation,
    idempotency_key: str | Unset = UNSET,
) -> Response[Invitation]:
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
    body: NewInvitation,
    idempotency_key: str | Unset = UNSET,
) -> Invitation:
    """Invite someone to the account

    A mail with a link goes to the address. It works once, for seven days. Inviting an address again
    sends another mail, ends the link of the first one, and keeps the id. The key needs every scope of
    the role: all of them for an owner; read, write, leads and webhooks for an editor; read and leads
    for an analyst.

    Args:
        idempotency_key (str | Unset):
        body (NewInvitation):

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
