"""What no schema can tell: an Idempotency-Key is good for one request only."""

import re
import uuid

import schemathesis

HEADER = "Idempotency-Key"
VALID = re.compile(r"[!-~]([ -~]{0,253}[!-~])?")


def fresh(request):
    """Gives a request a key of its own, as late as that: what was generated stays as it is."""
    value = request.headers.get(HEADER)
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if value is not None and VALID.fullmatch(value):
        request.headers[HEADER] = str(uuid.uuid4())
    return request


@schemathesis.hook
def before_call(context, case, kwargs):
    kwargs.setdefault("auth", fresh)
