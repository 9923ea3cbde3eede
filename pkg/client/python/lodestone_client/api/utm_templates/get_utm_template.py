from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.template import Template
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    generic_link_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["generic_link_id"] = generic_link_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/utm-templates/{id}".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Template:
    response_200 = Template.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    generic_link_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[Template]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            generic_link_id=generic_link_id,
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
    id: str,
    *,
    client: Client,
    generic_link_id: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Template:
    """Get saved campaign parameters

    With generic_link_id, url is the URL of that link with the parameters.

    Args:
        id (str): Id of the template.
        generic_link_id (str | Unset): Generic link whose URL is to carry the parameters.
        if_none_match (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                generic_link_id=generic_link_id,
                if_none_match=if_none_match,
            )
        )
    )
