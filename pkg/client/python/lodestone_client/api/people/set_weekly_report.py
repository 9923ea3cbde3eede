from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.changed_report import ChangedReport
from ...models.weekly_report import WeeklyReport
from ...types import Response


def _request(
    id: str,
    *,
    body: ChangedReport,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/users/{id}/weekly-report".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> WeeklyReport:
    response_200 = WeeklyReport.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: ChangedReport,
) -> Response[WeeklyReport]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            body=body,
        )
    )
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse(response),
    )


def sync(
    id: str,
    *,
    client: Client,
    body: ChangedReport,
) -> WeeklyReport:
    """Set whether a person gets the weekly report

    Each person has this setting for themselves. With the scope people, everyone's is there.

    Args:
        id (str): Id of the person.
        body (ChangedReport):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
            )
        )
    )
