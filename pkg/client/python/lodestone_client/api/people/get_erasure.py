from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.person_erasure import PersonErasure
from ...types import Response


def _request(
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/erasures/{id}".format(
            id=quote(str(id), safe=""),
        ),
    }
    return _kwargs


def _parse(response: httpx.Response) -> PersonErasure:
    response_200 = PersonErasure.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
) -> Response[PersonErasure]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
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
) -> PersonErasure:
    """Get an erasure

    What was erased, when, and until when records and backups hold it, with a receipt: a JSON Web
    Signature (EdDSA) of the other fields. The keys that verify it are at /.well-known/lodestone-
    receipt-keys.json, for everyone.

    Args:
        id (str):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
            )
        )
    )
