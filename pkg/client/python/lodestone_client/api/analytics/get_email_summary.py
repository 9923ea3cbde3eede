from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.email_summary import EmailSummary
from ...types import UNSET, Response, Unset


def _request(
    *,
    email: str,
    lead_magnet_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["email"] = email

    params["lead_magnet_id"] = lead_magnet_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/email",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> EmailSummary:
    response_200 = EmailSummary.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    email: str,
    lead_magnet_id: str | Unset = UNSET,
) -> Response[EmailSummary]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            email=email,
            lead_magnet_id=lead_magnet_id,
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
    email: str,
    lead_magnet_id: str | Unset = UNSET,
) -> EmailSummary:
    """Summarise one email address

    Covers all lead magnets of the account. For an address without access links, numbers are zero and
    times are null. Bots are excluded.

    Args:
        email (str): Email address to summarise, case-insensitive.
        lead_magnet_id (str | Unset): Only links to this lead magnet; zeros if it does not exist.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                email=email,
                lead_magnet_id=lead_magnet_id,
            )
        )
    )
