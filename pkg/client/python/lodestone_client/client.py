"""The connection to an installation."""

import random
import time
from collections.abc import Callable
from typing import Any, Self
from uuid import uuid4

import httpx

from .error import problem_of

_ATTEMPTS = 4
_FIRST_WAIT = 0.1  # seconds; doubled with each attempt


class Client:
    """Calls one installation with one key. It is safe for use by several threads.

    A creation has an Idempotency-Key, so it happens once however often it is sent. It is repeated, as reads are, when its answer is lost
    and on 503. Changes and deletions whose answer was lost may have happened and are not repeated. Requests that are refused
    with 429 have not, and are. Retry-After is obeyed.

    Args:
        url: Of the installation, such as http://127.0.0.1:8080.
        key: An API key.
        timeout: Seconds that connecting, and each wait for data, may take.
        max_wait: The longest wait in seconds that Retry-After may ask for; for a longer one the problem is raised at once.
        http: Sends the requests. Default: an httpx.Client of its own, which close ends.
        sleep: Waits before a request is repeated.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 60,
        max_wait: float = 60,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = url.rstrip("/")
        self._key = key
        self._max_wait = max_wait
        self._http = http or httpx.Client(timeout=timeout)
        self._owned = http is None
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, unless they are of a client that was passed in."""
        if self._owned:
            self._http.close()

    def send(self, request: dict[str, Any]) -> httpx.Response:
        """Sends a request, again while that may help, and returns its answer. Operations call it.

        Raises:
            LodestoneError: The API reports a problem.
            httpx.TransportError: No answer came.
        """
        method = request["method"].upper()
        headers = {"Authorization": f"Bearer {self._key}", **request.get("headers", {})}
        if method == "POST":
            headers.setdefault("Idempotency-Key", str(uuid4()))
        request = {**request, "method": method, "url": self._base + request["url"], "headers": headers}
        repeatable = method in ("GET", "POST")
        attempt = 0
        while True:
            attempt += 1
            backoff = _FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1)
            try:
                response = self._http.request(**request)
            except httpx.TransportError:
                if not repeatable or attempt == _ATTEMPTS:
                    raise
                self._sleep(backoff)
                continue
            if response.is_success or response.status_code == 304:
                return response
            after = _seconds(response.headers.get("Retry-After"))
            # 409 with Retry-After: the request before this one is still being answered.
            transient = response.status_code == 429 or (
                repeatable and (response.status_code == 503 or (response.status_code == 409 and after > 0))
            )
            if not transient or attempt == _ATTEMPTS or after > self._max_wait:
                raise problem_of(response)
            self._sleep(max(after, backoff))


def _seconds(text: str | None) -> float:
    return float(text) if text and text.isdecimal() else 0
