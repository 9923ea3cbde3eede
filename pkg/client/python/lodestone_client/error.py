"""Problems that the API reports."""

from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class FieldProblem:
    """A field or parameter with an error."""

    field: str
    message: str


class LodestoneError(Exception):
    """An answer of the API that reports a problem, of the form of RFC 9457.

    Attributes:
        status: The HTTP status.
        code: Stable name of the kind of problem; None if the answer did not come from Lodestone's API.
        detail: What went wrong in this case, and the remedy.
        fields: The fields with errors.
        request_id: Names the request in Lodestone's log.
    """

    def __init__(
        self, status: int, code: str | None, detail: str, fields: tuple[FieldProblem, ...], request_id: str | None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = fields
        self.request_id = request_id

    @property
    def field(self) -> str | None:
        """The first field with an error."""
        return self.fields[0].field if self.fields else None


def problem_of(response: httpx.Response) -> LodestoneError:
    """Reads the problem of an answer, or derives one from its status if the answer is not Lodestone's."""
    request_id = response.headers.get("X-Request-Id")
    if response.headers.get("Content-Type", "").startswith("application/problem+json"):
        try:
            problem = response.json()
            fields = tuple(FieldProblem(e["field"], e["message"]) for e in problem.get("errors", ()))
            return LodestoneError(response.status_code, problem["code"], problem["detail"], fields, request_id)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass  # not what Lodestone writes
    detail = f"The answer did not come from Lodestone's API: {response.status_code} {response.reason_phrase}"
    return LodestoneError(response.status_code, None, detail, (), request_id)
