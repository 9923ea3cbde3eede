import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.list_readers_sort import ListReadersSort
from ...models.list_readers_without import (
    ListReadersWithout,
)
from ...models.reader_page import ReaderPage
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ListReadersWithout | Unset = UNSET,
    device: str | Unset = UNSET,
    magnet_version: int | Unset = UNSET,
    min_pages: int | Unset = UNSET,
    reached: int | Unset = UNSET,
    stopped_at: int | Unset = UNSET,
    finished: bool | Unset = UNSET,
    downloaded: bool | Unset = UNSET,
    from_form: bool | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    sort: ListReadersSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["cursor"] = cursor

    params["q"] = q

    params["lead_magnet_id"] = lead_magnet_id

    params["generic_link_id"] = generic_link_id

    params["utm_source"] = utm_source

    params["referrer_host"] = referrer_host

    json_without: str | Unset = UNSET
    if not isinstance(without, Unset):
        json_without = without

    params["without"] = json_without

    params["device"] = device

    params["magnet_version"] = magnet_version

    params["min_pages"] = min_pages

    params["reached"] = reached

    params["stopped_at"] = stopped_at

    params["finished"] = finished

    params["downloaded"] = downloaded

    params["from_form"] = from_form

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/readers",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> ReaderPage:
    response_200 = ReaderPage.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ListReadersWithout | Unset = UNSET,
    device: str | Unset = UNSET,
    magnet_version: int | Unset = UNSET,
    min_pages: int | Unset = UNSET,
    reached: int | Unset = UNSET,
    stopped_at: int | Unset = UNSET,
    finished: bool | Unset = UNSET,
    downloaded: bool | Unset = UNSET,
    from_form: bool | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    sort: ListReadersSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[ReaderPage]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            cursor=cursor,
            q=q,
            lead_magnet_id=lead_magnet_id,
            generic_link_id=generic_link_id,
            utm_source=utm_source,
            referrer_host=referrer_host,
            without=without,
            device=device,
            magnet_version=magnet_version,
            min_pages=min_pages,
            reached=reached,
            stopped_at=stopped_at,
            finished=finished,
            downloaded=downloaded,
            from_form=from_form,
            from_=from_,
            to=to,
            sort=sort,
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
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ListReadersWithout | Unset = UNSET,
    device: str | Unset = UNSET,
    magnet_version: int | Unset = UNSET,
    min_pages: int | Unset = UNSET,
    reached: int | Unset = UNSET,
    stopped_at: int | Unset = UNSET,
    finished: bool | Unset = UNSET,
    downloaded: bool | Unset = UNSET,
    from_form: bool | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    sort: ListReadersSort | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> ReaderPage:
    """List the people who read

    One row a person with at least one page view: the person behind an address, with all its access
    links. Numbers count the events that match the filters. Bots are excluded; excluded_bots counts
    their events. Follow pagination.next_cursor with the same filters and sort: all pages of one walk
    are of the state of the data at its start, so that each person is listed once. The ETag stays the
    same as long as the list does.

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        cursor (str | Unset): Where to continue: the next_cursor of the previous answer. Cannot be
            combined with page.
        q (str | Unset): Only people whose address has this text in it, in its local part or its
            domain. Case-insensitive.
        lead_magnet_id (str | Unset): Count only events of this lead magnet, and list only people
            with such page views.
        generic_link_id (str | Unset): Count only events of access links that came from this
            generic link, and list only people with such page views.
        utm_source (str | Unset): Count only events of access links with this utm_source, and list
            only people with such page views.
        referrer_host (str | Unset): Likewise, by the host of the page before the landing page.
        without (ListReadersWithout | Unset): Count only events of access links that have no such
            source.
        device (str | Unset): Count only events of such a device: desktop, mobile, tablet, other
            or unknown.
        magnet_version (int | Unset): Count only events of this version of a document. 0: not
            known.
        min_pages (int | Unset): Only people who viewed at least as many different pages.
        reached (int | Unset): Only people whose furthest page of a document is this one or a
            later one. Name the lead magnet, and the version if it has several.
        stopped_at (int | Unset): Likewise, only people whose furthest page is this one.
        finished (bool | Unset): true: only people who viewed the last page of a document; false:
            only others.
        downloaded (bool | Unset): true: only people who completed a download; false: only others.
        from_form (bool | Unset): true: only people who viewed a page by an access link that a
            form gave them; false: only people whose links the API made.
        from_ (datetime.datetime | Unset): Count only events at or after this time (ISO 8601).
        to (datetime.datetime | Unset): Count only events before this time (ISO 8601).
        sort (ListReadersSort | Unset): What to order by; - before it puts the highest first. Ties
            by person_id.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                page=page,
                per_page=per_page,
                cursor=cursor,
                q=q,
                lead_magnet_id=lead_magnet_id,
                generic_link_id=generic_link_id,
                utm_source=utm_source,
                referrer_host=referrer_host,
                without=without,
                device=device,
                magnet_version=magnet_version,
                min_pages=min_pages,
                reached=reached,
                stopped_at=stopped_at,
                finished=finished,
                downloaded=downloaded,
                from_form=from_form,
                from_=from_,
                to=to,
                sort=sort,
                if_none_match=if_none_match,
            )
        )
    )
