from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...types import UNSET, File, Response, Unset


def _request(
    id: str,
    page: int,
    *,
    magnet_version: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["magnet_version"] = magnet_version

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/lead-magnets/{id}/pages/{page}/picture".format(
            id=quote(str(id), safe=""),
            page=quote(str(page), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    id: str,
    page: int,
    *,
    client: Client,
    magnet_version: int | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            page=page,
            magnet_version=magnet_version,
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
    page: int,
    *,
    client: Client,
    magnet_version: int | Unset = UNSET,
) -> File:
    """Get a small picture of a page of a lead magnet

    The picture is 240 pixels wide. It is made when it is first asked for, which takes a moment, for the
    first 300 pages of versions that are still stored.

    Args:
        id (str): Id of the lead magnet.
        page (int): Number of the page, from 1.
        magnet_version (int | Unset): Version of the file; default: the current one.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                page=page,
                magnet_version=magnet_version,
            )
        )
    )
