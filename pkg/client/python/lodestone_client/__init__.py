"""Calls Lodestone's API.

Each operation is a module of lodestone_client.api with the functions sync, which returns the content of the answer, and
sync_detailed, which returns its status and headers as well. A problem is raised as LodestoneError.
"""

from .client import Client
from .error import LodestoneError
from .paging import each

__all__ = ["Client", "LodestoneError", "each"]
