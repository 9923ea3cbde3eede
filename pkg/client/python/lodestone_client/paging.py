"""Iteration of lists."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
P = ParamSpec("P")


class Page(Protocol[T_co]):
    """A page of a list."""

    @property
    def data(self) -> Iterable[T_co]: ...

    @property
    def pagination(self) -> Any: ...


def each(operation: Callable[P, Page[T]], *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
    """Yields the elements of a list, page after page: by cursor where the list has cursors.

    Args:
        operation: The function sync of a module of lodestone_client.api, such as list_lead_magnets.sync. Its arguments follow.
    """
    more: dict[str, Any] = dict(kwargs)
    while True:
        page = operation(*args, **more)
        yield from page.data
        at = page.pagination
        if getattr(at, "next_cursor", None):
            more.pop("page", None)
            more["cursor"] = at.next_cursor
        elif not hasattr(at, "next_cursor") and at.page < at.total_pages:
            more["page"] = at.page + 1
        else:
            return
