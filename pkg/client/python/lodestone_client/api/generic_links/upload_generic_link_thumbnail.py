from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.generic_link import GenericLink
from ...models.upload_generic_link_thumbnail_body import UploadGenericLinkThumbnailBody
from ...types import Response


def _request(
    id: str,
    *,
    body: UploadGenericLinkThumbnailBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/generic-links/{id}/thumbnail".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["files"] = body.to_multipart()

    headers["Content-Type"] = "multipart/form-data; boundary=+++"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> GenericLink:
    response_200 = GenericLink.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: UploadGenericLinkThumbnailBody,
) -> Response[GenericLink]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
    id: str,
    *,
    client: Client,
    body: UploadGenericLinkThumbnailBody,
) -> GenericLink:
    """Set the thumbnail of a generic link to an uploaded picture

    The page shows the picture instead of the document's first page, and thumbnail_url is its address.
    The body is the picture itself (PNG, JPEG, WebP, or the first image of a GIF; at most 5 MiB), or a
    form (multipart/form-data) with the picture in the part named file. The picture is re-encoded with
    at most 960 × 1600 pixels, and metadata of the file is removed.

    Args:
        id (str): Id of the generic link.
        body (UploadGenericLinkThumbnailBody):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
            )
        )
    )
