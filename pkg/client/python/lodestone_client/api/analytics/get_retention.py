from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.get_retention_by import GetRetentionBy
from ...models.retention_report import RetentionReport
from ...types import UNSET, Response, Unset


def _request(
    *,
    lead_magnet_id: str,
    by: GetRetentionBy | Unset = UNSET,
    timezone: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["lead_magnet_id"] = lead_magnet_id

    json_by: str | Unset = UNSET
    if not isinstance(by, Unset):
        json_by = by

    params["by"] = json_by

    params["timezone"] = timezone

    params["from"] = from_

    params["to"] = to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/retention",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> RetentionReport:
    response_200 = RetentionReport.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    lead_magnet_id: str,
    by: GetRetentionBy | Unset = UNSET,
    timezone: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[RetentionReport]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            lead_magnet_id=lead_magnet_id,
            by=by,
            timezone=timezone,
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
    by: GetRetentionBy | Unset = UNSET,
    timezone: str | Unset = UNSET,
    from_: str | Unset = UNSET,
    to: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> RetentionReport:
    """Report which readers return

    Readers of a lead magnet by when they first read, and how many of them read again in each interval
    after. Bots are excluded.

    Args:
        lead_magnet_id (str): Lead magnet whose readers are reported. An unknown one has none.
        by (GetRetentionBy | Unset): Interval of the cohorts and of the returns. Weeks begin on
            Monday.
        timezone (str | Unset): IANA time zone of dates and intervals.
        from_ (str | Unset): Only readers who first read at or after this time: a date of the time
            zone, or an RFC 3339 time.
        to (str | Unset): Only readers who first read before this time.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                lead_magnet_id=lead_magnet_id,
                by=by,
                timezone=timezone,
                from_=from_,
                to=to,
                if_none_match=if_none_match,
            )
        )
    )
