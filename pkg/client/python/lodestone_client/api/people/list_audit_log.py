from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.page_entry import PageEntry
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    user_id: str | Unset = UNSET,
    object_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["user_id"] = user_id

    params["object_id"] = object_id

    params["action"] = action

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/audit-log",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> PageEntry:
    response_200 = PageEntry.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    user_id: str | Unset = UNSET,
    object_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
) -> Response[PageEntry]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            user_id=user_id,
            object_id=object_id,
            action=action,
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
    user_id: str | Unset = UNSET,
    object_id: str | Unset = UNSET,
    action: str | Unset = UNSET,
) -> PageEntry:
    """List what was done to the account, newest first

    Every change, every export of personal data and every sign-in, with who did it. Entries cannot be
    changed or deleted.

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        user_id (str | Unset): Only what this person did.
        object_id (str | Unset): Only what was done to this object.
        action (str | Unset): Only this action.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
                user_id=user_id,
                object_id=object_id,
                action=action,
            )
        )
    )
