from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import Client
from ...models.link_preview import LinkPreview
from ...types import UNSET, Response, Unset


def _request(
    id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/api/v1/access-links/{id}/preview".format(
            id=quote(str(id), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parse(response: httpx.Response) -> LinkPreview:
    response_200 = LinkPreview.from_dict(response.json())

    return response_200


def sync_detailed(
    id: str,
    *,
    client: Client,
    idempotency_key: str | Unset = UNSET,
) -> Response[LinkPreview]:
    """As sync, with the status and the headers of the answer."""

    response = client.send(
        _request(
            id=id,
            idempotency_key=idempotency_key,
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
    idempotency_key: str | Unset = UNSET,
) -> LinkPreview:
    """Create a URL that shows the document of an access link without counting

    For owners who preview what a recipient sees: no session, view or download is counted or recorded.
    The URL is the link's own, and opens it regardless of its limits.

    Args:
        id (str): Id of the access link.
        idempotency_key (str | Unset):

    Raises:
        LodestoneError: The API reports a problem.
    """

    return _parse(
        client.send(
            _request(
                id=id,
                idempotency_key=idempotency_key,
            )
        )
    )
