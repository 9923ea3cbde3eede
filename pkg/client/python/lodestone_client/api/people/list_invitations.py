from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.page_invitation import PageInvitation
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/invitations",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageInvitation:
    response_200 = PageInvitation.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
) -> Response[PageInvitation]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
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
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
) -> PageInvitation:
    """List the invitations that were not accepted, newest first

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
            )
        )
    )
