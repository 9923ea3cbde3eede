from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.page_share import PageShare
from ...types import UNSET, Response, Unset


def _request(
    id: str,
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
        "url": "/api/v1/lead-magnets/{id}/shares".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageShare:
    response_200 = PageShare.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
) -> Response[PageShare]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
    id: str,
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
) -> PageShare:
    """List the links that show the statistics of a lead magnet, newest first

    Args:
        id (str): Id of the lead magnet.
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                page=page,
                per_page=per_page,
            )
        )
    )
