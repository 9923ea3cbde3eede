import datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any

import httpx

from ...client import Client
from ...models.export_analytics_events_event_type import (
    ExportAnalyticsEventsEventType,
)
from ...models.export_analytics_events_format import (
    ExportAnalyticsEventsFormat,
)
from ...types import UNSET, File, Response, Unset


def _request(
    *,
    format_: ExportAnalyticsEventsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    visitor: bool | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ExportAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params["bom"] = bom

    params["visitor"] = visitor

    params["access_link_id"] = access_link_id

    params["lead_magnet_id"] = lead_magnet_id

    json_event_type: str | Unset = UNSET
    if not isinstance(event_type, Unset):
        json_event_type = event_type

    params["event_type"] = json_event_type

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    json_received_after: str | Unset = UNSET
    if not isinstance(received_after, Unset):
        json_received_after = received_after.isoformat()
    params["received_after"] = json_received_after

    params["bot"] = bot

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/export",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    *,
    client: Client,
    format_: ExportAnalyticsEventsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    visitor: bool | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ExportAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            format_=format_,
            bom=bom,
            visitor=visitor,
            access_link_id=access_link_id,
            lead_magnet_id=lead_magnet_id,
            event_type=event_type,
            from_=from_,
            to=to,
            received_after=received_after,
            bot=bot,
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
    format_: ExportAnalyticsEventsFormat | Unset = UNSET,
    bom: bool | Unset = UNSET,
    visitor: bool | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ExportAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> File:
    """Export analytics events

    Every event that matches all given filters, as a file, from one state of the data. The order is that
    of the storage. Events of bots are included unless bot=false; bot is the name of the rule that
    recognised one. If an error occurs after the file has begun, the connection is broken, so that a
    part of a file does not look complete. In CSV, a text that begins with =, +, -, @, a tab or a
    carriage return gets an apostrophe before it, so that no spreadsheet takes it for a formula.

    Args:
        format_ (ExportAnalyticsEventsFormat | Unset): Format of the file.
        bom (bool | Unset): Whether a CSV file begins with a byte order mark, without which Excel
            shows letters that are not ASCII wrong.
        visitor (bool | Unset): Whether to add the columns browser, os, country and language.
        access_link_id (str | Unset): Only events of this access link.
        lead_magnet_id (str | Unset): Only events of this lead magnet.
        event_type (ExportAnalyticsEventsEventType | Unset): Only events of this type.
        from_ (datetime.datetime | Unset): Only events created at or after this time (ISO 8601).
        to (datetime.datetime | Unset): Only events created before this time (ISO 8601).
        received_after (datetime.datetime | Unset): Only events that entered this list after this
            time (ISO 8601), whenever they happened. To fetch new events without missing any, send the
            pagination.next_received_after of the previous fetch.
        bot (bool | Unset): true: only events of bots; false: no events of bots.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                format_=format_,
                bom=bom,
                visitor=visitor,
                access_link_id=access_link_id,
                lead_magnet_id=lead_magnet_id,
                event_type=event_type,
                from_=from_,
                to=to,
                received_after=received_after,
                bot=bot,
            )
        )
    )
