import datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any

import httpx

from ...client import Client
from ...models.export_readers_format import (
    ExportReadersFormat,
)
from ...models.export_readers_sort import ExportReadersSort
from ...models.export_readers_without import (
    ExportReadersWithout,
)
from ...types import UNSET, File, Response, Unset


def _request(
    *,
    format_: ExportReadersFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ExportReadersWithout | Unset = UNSET,
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
    sort: ExportReadersSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params["bom"] = bom

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
        "url": "/api/v1/analytics/readers/export",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    *,
    client: Client,
    format_: ExportReadersFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ExportReadersWithout | Unset = UNSET,
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
    sort: ExportReadersSort | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            format_=format_,
            bom=bom,
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
    format_: ExportReadersFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    q: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    generic_link_id: str | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    referrer_host: str | Unset = UNSET,
    without: ExportReadersWithout | Unset = UNSET,
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
    sort: ExportReadersSort | Unset = UNSET,
) -> File:
    """Export the people who read

    Every person of the list of readers with these filters, in its order, as a file. Numbers are from
    one state of the data, and so are addresses. A source is the one that the person has when it is
    read.

    Args:
        format_ (ExportReadersFormat | Unset): Format of the file.
        bom (bool | Unset): Whether a CSV file begins with a byte order mark, without which Excel
            shows letters that are not ASCII wrong.
        q (str | Unset): Only people whose address has this text in it, in its local part or its
            domain. Case-insensitive.
        lead_magnet_id (str | Unset): Count only events of this lead magnet, and list only people
            with such page views.
        generic_link_id (str | Unset): Count only events of access links that came from this
            generic link, and list only people with such page views.
        utm_source (str | Unset): Count only events of access links with this utm_source, and list
            only people with such page views.
        referrer_host (str | Unset): Likewise, by the host of the page before the landing page.
        without (ExportReadersWithout | Unset): Count only events of access links that have no
            such source.
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
        sort (ExportReadersSort | Unset): What to order by; - before it puts the highest first.
            Ties by person_id.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                format_=format_,
                bom=bom,
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
            )
        )
    )
