from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.changed_generic_link import ChangedGenericLink
from ...models.generic_link import GenericLink
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: ChangedGenericLink,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/v1/generic-links/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> GenericLink:
    response_200 = GenericLink.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: ChangedGenericLink,
    if_match: str | Unset = UNSET,
) -> Response[GenericLink]:
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
    body: ChangedGenericLink,
    if_match: str | Unset = UNSET,
) -> GenericLink:
    """Change a generic link

    Omitted fields keep their values; null clears texts and URLs.

    Args:
        id (str): Id of the generic link.
        if_match (str | Unset):
        body (ChangedGenericLink):

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
