from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.page_template import PageTemplate
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["generic_link_id"] = generic_link_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/utm-templates",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageTemplate:
    response_200 = PageTemplate.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
) -> Response[PageTemplate]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            generic_link_id=generic_link_id,
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
    generic_link_id: str | Unset = UNSET,
) -> PageTemplate:
    """List the saved campaign parameters, newest first

    With generic_link_id, each has the URL of that link with its parameters.

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        generic_link_id (str | Unset): Generic link whose URL is to carry the parameters.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
                generic_link_id=generic_link_id,
            )
        )
    )
