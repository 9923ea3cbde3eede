from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.question_schema import QuestionSchema
from ...types import UNSET, Response, Unset


def _request(
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/analytics/schema",
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> QuestionSchema:
    response_200 = QuestionSchema.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    if_none_match: str | Unset = UNSET,
) -> Response[QuestionSchema]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
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
    if_none_match: str | Unset = UNSET,
) -> QuestionSchema:
    """Describe metrics and dimensions

    What POST /api/v1/analytics/query can be asked, and what can be combined, for tools that build
    questions.

    Args:
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                if_none_match=if_none_match,
            )
        )
    )
