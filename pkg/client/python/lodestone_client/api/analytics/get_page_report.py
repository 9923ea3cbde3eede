import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.page_report import PageReport
from ...types import UNSET, Response, Unset


def _request(
    *,
    lead_magnet_id: str,
    magnet_version: int | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["lead_magnet_id"] = lead_magnet_id

    params["magnet_version"] = magnet_version

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/pages",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> PageReport:
    response_200 = PageReport.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    lead_magnet_id: str,
    magnet_version: int | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[PageReport]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            lead_magnet_id=lead_magnet_id,
            magnet_version=magnet_version,
            from_=from_,
            to=to,
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
    lead_magnet_id: str,
    magnet_version: int | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> PageReport:
    """Report how each page is read

    How far readers get in one version of a document, and how long they stay on each page. Bots are
    excluded; excluded_bots counts their page views. The ETag stays the same as long as the numbers do.

    Args:
        lead_magnet_id (str): Lead magnet whose pages are reported. An unknown one has no pages.
        magnet_version (int | Unset): Version of the document. Default: the newest version that
            was read in the period.
        from_ (datetime.datetime | Unset): Only page views at or after this time (ISO 8601).
        to (datetime.datetime | Unset): Only page views before this time (ISO 8601).
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                lead_magnet_id=lead_magnet_id,
                magnet_version=magnet_version,
                from_=from_,
                to=to,
                if_none_match=if_none_match,
            )
        )
    )
