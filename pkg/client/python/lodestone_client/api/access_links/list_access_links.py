from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.page_access_link import PageAccessLink
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    email: str | Unset = UNSET,
    submission_id: str | Unset = UNSET,
    is_active: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["lead_magnet_id"] = lead_magnet_id

    params["email"] = email

    params["submission_id"] = submission_id

    params["is_active"] = is_active

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/access-links",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageAccessLink:
    response_200 = PageAccessLink.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    email: str | Unset = UNSET,
    submission_id: str | Unset = UNSET,
    is_active: bool | Unset = UNSET,
) -> Response[PageAccessLink]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            lead_magnet_id=lead_magnet_id,
            email=email,
            submission_id=submission_id,
            is_active=is_active,
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
    lead_magnet_id: str | Unset = UNSET,
    email: str | Unset = UNSET,
    submission_id: str | Unset = UNSET,
    is_active: bool | Unset = UNSET,
) -> PageAccessLink:
    """List access links, newest first

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        lead_magnet_id (str | Unset): Only links to this lead magnet.
        email (str | Unset): Only links of this email address, case-insensitive.
        submission_id (str | Unset): Only links created for this submission.
        is_active (bool | Unset): true: only active links; false: only inactive links.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
                lead_magnet_id=lead_magnet_id,
                email=email,
                submission_id=submission_id,
                is_active=is_active,
            )
        )
    )
