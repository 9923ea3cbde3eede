from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.new_template import NewTemplate
from ...models.template import Template
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: NewTemplate,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/utm-templates",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Template:
    response_201 = Template.from_dict(response.json())

    return response_201


def sync_detailed(
    *,
    client: Client,
    body: NewTemplate,
    idempotency_key: str | Unset = UNSET,
) -> Response[Template]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            body=body,
            idempotency_key=idempotency_key,
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
    body: NewTemplate,
    idempotency_key: str | Unset = UNSET,
) -> Template:
    """Save campaign parameters

    A template has at least one parameter.

    Args:
        idempotency_key (str | Unset):
        body (NewTemplate):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                body=body,
                idempotency_key=idempotency_key,
            )
        )
    )
