from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.get_generic_link_qr_format import (
    GetGenericLinkQrFormat,
)
from ...types import UNSET, File, Response, Unset


def _request(
    id: str,
    *,
    format_: GetGenericLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_

    params["format"] = json_format_

    params["size"] = size

    params["utm_source"] = utm_source

    params["utm_medium"] = utm_medium

    params["utm_campaign"] = utm_campaign

    params["utm_content"] = utm_content

    params["utm_term"] = utm_term

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/generic-links/{id}/qr".format(
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
    format_: GetGenericLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
) -> Response[File]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            format_=format_,
            size=size,
            utm_source=utm_source,
            utm_medium=utm_medium,
            utm_campaign=utm_campaign,
            utm_content=utm_content,
            utm_term=utm_term,
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
    format_: GetGenericLinkQrFormat | Unset = UNSET,
    size: int | Unset = UNSET,
    utm_source: str | Unset = UNSET,
    utm_medium: str | Unset = UNSET,
    utm_campaign: str | Unset = UNSET,
    utm_content: str | Unset = UNSET,
    utm_term: str | Unset = UNSET,
) -> File:
    """Get the QR code of a generic link

    The code holds the link's URL and the campaign parameters of the request, so that the visits of a
    poster or a slide count under their own source. It has a quiet zone, and as much error correction as
    fits its size: at least level M.

    Args:
        id (str): Id of the generic link.
        format_ (GetGenericLinkQrFormat | Unset): Format of the picture. SVG scales without loss,
            for print.
        size (int | Unset): Width and height in pixels, with the quiet zone. An SVG scales from
            there.
        utm_source (str | Unset): utm_source of the address in the code.
        utm_medium (str | Unset): utm_medium of the address in the code.
        utm_campaign (str | Unset): utm_campaign of the address in the code.
        utm_content (str | Unset): utm_content of the address in the code.
        utm_term (str | Unset): utm_term of the address in the code.

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                format_=format_,
                size=size,
                utm_source=utm_source,
                utm_medium=utm_medium,
                utm_campaign=utm_campaign,
                utm_content=utm_content,
                utm_term=utm_term,
            )
        )
    )
