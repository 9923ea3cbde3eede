from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.get_access_link_qr_format import (
    GetAccessLinkQrFormat,
)
from ...types import UNSET, File, Response, Unset


def _request(
    id: str,
    *,
    format_: GetAccessLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params["size"] = size

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/access-links/{id}/qr".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parse(response: httpx.Response) -> File:
    response_200 = File(payload=BytesIO(response.content))

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    format_: GetAccessLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            format_=format_,
            size=size,
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
    format_: GetAccessLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
) -> File:
    """Get the QR code of an access link

    The code holds the link's URL: who scans it opens the document as the recipient. It has a quiet
    zone, and error correction of at least level M.

    Args:
        id (str): Id of the access link.
        format_ (GetAccessLinkQrFormat | Unset): Format of the picture. SVG scales without loss,
            for print.
        size (int | Unset): Width and height in pixels, with the quiet zone. An SVG scales from
            there.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                format_=format_,
                size=size,
            )
        )
    )
