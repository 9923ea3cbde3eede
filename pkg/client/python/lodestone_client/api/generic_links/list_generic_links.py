from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.list_generic_links_sort import (
    ListGenericLinksSort,
)
from ...models.page_generic_link import PageGenericLink
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    sort: ListGenericLinksSort | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["lead_magnet_id"] = lead_magnet_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageGenericLink:
    response_200 = PageGenericLink.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    sort: ListGenericLinksSort | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
) -> Response[PageGenericLink]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            sort=sort,
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
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    sort: ListGenericLinksSort | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
) -> PageGenericLink:
    """List generic links, newest or oldest first

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        sort (ListGenericLinksSort | Unset): The order: newest first (-created_at), or oldest
            first (created_at).
        lead_magnet_id (str | Unset): Only links of this lead magnet; none if it does not exist.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
                sort=sort,
                lead_magnet_id=lead_magnet_id,
            )
        )
    )
