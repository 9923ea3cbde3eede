from http import HTTPStatus
from typing import Any

import httpx

from ...client import Client
from ...models.logo import Logo
from ...models.upload_logo_body import UploadLogoBody
from ...types import Response


def _request(
    *,
    body: UploadLogoBody,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/account/logo",
    }
    _kwargs["files"] = body.to_multipart()

    headers["Content-Type"] = "multipart/form-data; boundary=+++"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> Logo:
    response_200 = Logo.from_dict(response.json())

    return response_200


def sync_detailed(
    *,
    client: Client,
    body: UploadLogoBody,
) -> Response[Logo]:
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
    body: UploadLogoBody,
) -> Logo:
    """Set the account's logo

    The pages that visitors see show the logo. The body is the picture itself (PNG, JPEG, WebP, or the
    first image of a GIF; at most 5 MiB), or a form (multipart/form-data) with the picture in the part
    named file. The picture is re-encoded with at most 640 × 240 pixels, and metadata of the file is
    removed. Transparency is preserved.

    Args:
        body (UploadLogoBody):

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
