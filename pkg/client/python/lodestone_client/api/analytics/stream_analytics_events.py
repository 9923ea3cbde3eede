import datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any

import httpx

from ...client import Client
from ...models.stream_analytics_events_event_type import (
    StreamAnalyticsEventsEventType,
)
from ...types import UNSET, File, Response, Unset


def _request(
    *,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: StreamAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
    last_event_id_query: str | Unset = UNSET,
    last_event_id_header: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id_header, Unset):
        headers["Last-Event-ID"] = last_event_id_header

    params: dict[str, Any] = {}

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

    params["last_event_id"] = last_event_id_query

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/live",
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    *,
    client: Client,
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: StreamAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
    last_event_id_query: str | Unset = UNSET,
    last_event_id_header: str | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            access_link_id=access_link_id,
            lead_magnet_id=lead_magnet_id,
            event_type=event_type,
            from_=from_,
            to=to,
            received_after=received_after,
            bot=bot,
            last_event_id_query=last_event_id_query,
            last_event_id_header=last_event_id_header,
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
    access_link_id: str | Unset = UNSET,
    lead_magnet_id: str | Unset = UNSET,
    event_type: StreamAnalyticsEventsEventType | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
    received_after: datetime.datetime | Unset = UNSET,
    bot: bool | Unset = UNSET,
    last_event_id_query: str | Unset = UNSET,
    last_event_id_header: str | Unset = UNSET,
) -> File:
    """Stream analytics events

    Server-sent events: each event of people, or with bot=true of bots, is sent once, about as soon as
    it is in the list of events, and has the form that it has there. A message is its id, its type, and
    the event as data, in this order; a message without data tells the id with which the stream begins.
    After a lost connection, send the id of the last message as Last-Event-ID. A comment each 15 seconds
    shows that the connection works. An account may have 20 streams. A client that does not keep up is
    disconnected. The stream ends within a minute after its key does. Pages of the dashboard send the
    cookie of their session instead of a key.

    Args:
        access_link_id (str | Unset): Only events of this access link.
        lead_magnet_id (str | Unset): Only events of this lead magnet.
        event_type (StreamAnalyticsEventsEventType | Unset): Only events of this type.
        from_ (datetime.datetime | Unset): Only events created at or after this time (ISO 8601).
        to (datetime.datetime | Unset): Only events created before this time (ISO 8601).
        received_after (datetime.datetime | Unset): Only events that entered this list after this
            time (ISO 8601), whenever they happened. To fetch new events without missing any, send the
            pagination.next_received_after of the previous fetch.
        bot (bool | Unset): true: only events of bots; false: no events of bots.
        last_event_id_query (str | Unset): As the header Last-Event-ID, for clients that cannot
            set it. The header takes precedence.
        last_event_id_header (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                access_link_id=access_link_id,
                lead_magnet_id=lead_magnet_id,
                event_type=event_type,
                from_=from_,
                to=to,
                received_after=received_after,
                bot=bot,
                last_event_id_query=last_event_id_query,
                last_event_id_header=last_event_id_header,
            )
        )
    )
