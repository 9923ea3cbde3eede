from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.now_report import NowReport
from ...types import UNSET, Response, Unset


def _request(
    *,
    minutes: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["minutes"] = minutes

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/now",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> NowReport:
    response_200 = NowReport.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    minutes: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[NowReport]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            minutes=minutes,
            if_none_match=if_none_match,
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
    minutes: int | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> NowReport:
    """List who reads now

    Readers who were on a page in the last minutes. The page tells of a visit when it ends, so the page
    is the one that they just left. Bots are excluded.

    Args:
        minutes (int | Unset): How long ago the last visit to a page may have ended.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                minutes=minutes,
                if_none_match=if_none_match,
            )
        )
    )
