from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.changed_template import ChangedTemplate
from ...models.template import Template
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: ChangedTemplate,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/utm-templates/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Template:
    response_200 = Template.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: ChangedTemplate,
    if_match: str | Unset = UNSET,
) -> Response[Template]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            body=body,
            if_match=if_match,
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
    body: ChangedTemplate,
    if_match: str | Unset = UNSET,
) -> Template:
    """Change saved campaign parameters

    Omitted fields keep their values; null removes a parameter. Addresses that carry the old values keep
    working.

    Args:
        id (str): Id of the template.
        if_match (str | Unset):
        body (ChangedTemplate):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
                if_match=if_match,
            )
        )
    )
