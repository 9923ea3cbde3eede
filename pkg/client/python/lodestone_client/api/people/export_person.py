from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.person_address import PersonAddress
from ...models.person_document import PersonDocument
from ...types import Response


def _request(
    *,
    body: PersonAddress,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/people/export",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> PersonDocument:
    response_200 = PersonDocument.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    body: PersonAddress,
) -> Response[PersonDocument]:
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
    body: PersonAddress,
) -> PersonDocument:
    """Export everything that is stored about an address

    One document with what the account stores about an address: submissions, access links with their
    sessions, downloads and events, mails, notices, messages to chat channels and webhooks, forms of the
    dashboard that wait, answers and keys that are kept for repeated requests, and entries of the audit
    log. Secrets that open documents or confirm addresses are left out, except where messages to
    webhooks have them. Nothing is stored about an address of which all lists are empty.

    Args:
        body (PersonAddress):

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
