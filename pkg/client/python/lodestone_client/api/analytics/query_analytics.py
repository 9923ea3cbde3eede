from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.answers import Answers
from ...models.questions import Questions
from ...types import Response


def _request(
    *,
    body: Questions,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/analytics/query",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Answers:
    response_200 = Answers.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    body: Questions,
) -> Response[Answers]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
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
    *,
    client: Client,
    body: Questions,
) -> Answers:
    """Ask for metrics

    Exact counts and rates over a range, by calendar intervals of a time zone and by up to two
    dimensions. A metric and a dimension that cannot be combined are refused. A batch of questions is
    answered from one state of the data.

    Args:
        body (Questions):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                body=body,
            )
        )
    )
