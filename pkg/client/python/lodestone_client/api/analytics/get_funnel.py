import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.funnel_report import FunnelReport
from ...types import UNSET, Response, Unset


def _request(
    *,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["lead_magnet_id"] = lead_magnet_id

    params["generic_link_id"] = generic_link_id

    params["utm_source"] = utm_source

    params["utm_medium"] = utm_medium

    params["utm_campaign"] = utm_campaign

    params["utm_content"] = utm_content

    params["utm_term"] = utm_term

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
        "url": "/api/v1/analytics/funnel",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> FunnelReport:
    response_200 = FunnelReport.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[FunnelReport]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            lead_magnet_id=lead_magnet_id,
            generic_link_id=generic_link_id,
            utm_source=utm_source,
            utm_medium=utm_medium,
            utm_campaign=utm_campaign,
            utm_content=utm_content,
            utm_term=utm_term,
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
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> FunnelReport:
    """Report how many get how far

    From views of landing pages to the end of the document. Views and submissions of the period count,
    and what the people who submitted did until as_of. Bots are excluded. The ETag stays the same as
    long as the numbers do.

    Args:
        lead_magnet_id (str | Unset): Only this lead magnet. An unknown one has zeros.
        generic_link_id (str | Unset): Only this generic link. Access links of the API have none.
        utm_source (str | Unset): Only views and submissions with this utm_source. Access links of
            the API have none.
        utm_medium (str | Unset): Likewise.
        utm_campaign (str | Unset): Likewise.
        utm_content (str | Unset): Likewise.
        utm_term (str | Unset): Likewise.
        from_ (datetime.datetime | Unset): Only views, submissions and first openings at or after
            this time (ISO 8601).
        to (datetime.datetime | Unset): Only views, submissions and first openings before this
            time (ISO 8601). What people did later counts as well.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                lead_magnet_id=lead_magnet_id,
                generic_link_id=generic_link_id,
                utm_source=utm_source,
                utm_medium=utm_medium,
                utm_campaign=utm_campaign,
                utm_content=utm_content,
                utm_term=utm_term,
                from_=from_,
                to=to,
                if_none_match=if_none_match,
            )
        )
    )
