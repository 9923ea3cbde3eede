from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.account import Account
from ...models.changed_account import ChangedAccount
from ...types import Response


def _request(
    *,
    body: ChangedAccount,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/account",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Account:
    response_200 = Account.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    body: ChangedAccount,
) -> Response[Account]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            body=body,
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
    body: ChangedAccount,
) -> Account:
    """Change the account that the key belongs to

    Omitted fields keep their values. Only the operator can change the plan.

    Args:
        body (ChangedAccount):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                body=body,
            )
        )
    )
