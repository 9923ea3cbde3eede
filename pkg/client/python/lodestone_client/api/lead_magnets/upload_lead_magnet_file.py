from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.lead_magnet import LeadMagnet
from ...models.upload_lead_magnet_file_body import UploadLeadMagnetFileBody
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    body: UploadLeadMagnetFileBody,
    file_name: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["file_name"] = file_name

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/api/v1/lead-magnets/{id}/file".format(
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }
    _kwargs["files"] = body.to_multipart()

    headers["Content-Type"] = "multipart/form-data; boundary=+++"
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> LeadMagnet:
    response_200 = LeadMagnet.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    body: UploadLeadMagnetFileBody,
    file_name: str | Unset = UNSET,
) -> Response[LeadMagnet]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            body=body,
            file_name=file_name,
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
    body: UploadLeadMagnetFileBody,
    file_name: str | Unset = UNSET,
) -> LeadMagnet:
    """Set the file of a lead magnet

    The body is either the PDF itself (application/pdf), with its name in Content-Disposition or the
    parameter file_name, or a form (multipart/form-data) with the PDF in the part named file. Each
    upload is a new version of the file.

    Args:
        id (str): Id of the lead magnet.
        file_name (str | Unset): Name of the file, if the request does not give it elsewhere.
        body (UploadLeadMagnetFileBody):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                body=body,
                file_name=file_name,
            )
        )
    )
