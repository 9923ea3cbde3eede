import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.event_page import EventPage
from ...models.list_analytics_events_event_type import (
    ListAnalyticsEventsEventType,
)
from ...types import UNSET, Response, Unset


def _request(
    *,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ListAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["page"] = page

    params["per_page"] = per_page

    params["cursor"] = cursor

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
        "url": "/api/v1/analytics",
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> EventPage:
    response_200 = EventPage.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ListAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> Response[EventPage]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            page=page,
            per_page=per_page,
            cursor=cursor,
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
    page: int | Unset = UNSET,
    per_page: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: ListAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
) -> EventPage:
    """List analytics events

    Newest first. Events must match all given filters. An unknown access link or lead magnet has no
    events. To read a long list, follow pagination.next_cursor with the same filters. Every page then
    costs the same, and none of the events that were listed at the start is skipped or repeated, even if
    new events arrive. Events of bots are included unless bot=false.

    Args:
        page (int | Unset): Page to return, from 1.
        per_page (int | Unset): Elements per page.
        cursor (str | Unset): Where to continue: the next_cursor of the previous answer. Cannot be
            combined with page.
        access_link_id (str | Unset): Only events of this access link.
        lead_magnet_id (str | Unset): Only events of this lead magnet.
        event_type (ListAnalyticsEventsEventType | Unset): Only events of this type.
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
                page=page,
                per_page=per_page,
                cursor=cursor,
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
